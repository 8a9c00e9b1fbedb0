// The code of a file without its comments and its formatting.
import ts from "typescript";
import { hashOf } from "./source-hash.mjs";

/** @typedef {{ text: string, firstLine: number, lastLine: number }} Token */

/**
 * @param {string} text of a TypeScript file
 * @returns {Token[]} in order
 */
export function tokensOf(text) {
  const tree = ts.createSourceFile("file.ts", text, ts.ScriptTarget.Latest);
  const lineAt = (/** @type {number} */ position) =>
    tree.getLineAndCharacterOfPosition(position).line;
  /**
   * @param {ts.Node} node
   * @returns {Token[]}
   */
  const visit = (node) => {
    if (ts.isJSDoc(node)) return [];
    const children = node.getChildren(tree);
    if (children.length > 0) return children.flatMap(visit);
    if (node.getWidth(tree) === 0) return [];
    const [firstLine, lastLine] = [lineAt(node.getStart(tree)), lineAt(node.getEnd())];
    return [{ text: node.getText(tree), firstLine, lastLine }];
  };
  return visit(tree);
}

/**
 * @param {string} text of a TypeScript file
 * @returns {string} a hash that stays the same when only comments or the formatting change
 */
export function hashOfCode(text) {
  const tokens = tokensOf(text).map((token) => token.text);
  // The formatter adds and removes the comma after the last item.
  const isTrailing = (/** @type {number} */ at) =>
    tokens[at] === "," && /^[)\]}>]$/.test(tokens[at + 1] ?? "");
  return hashOf(tokens.filter((_, at) => !isTrailing(at)));
}
