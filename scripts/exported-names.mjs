// The names that each entry of the packages exports, and whether the API reference has a page for each.
import path from "node:path";
import ts from "typescript";
import { GROUPS } from "../site/reference/groups.mjs";
import { sourcePaths } from "./entries.mjs";
import { root } from "./run.mjs";

/**
 * @typedef {object} Entry
 * @property {string} name such as `idpauth/express`
 * @property {string} file
 * @property {readonly string[]} names what it exports, but for what is internal
 */

/** @returns {Entry[]} the entries of the packages */
export function exportedNames() {
  const entries = Object.entries(sourcePaths()).map(([name, [file = ""]]) => ({
    name,
    file: path.join(root, file),
  }));
  const files = entries.map(({ file }) => file);
  const program = ts.createProgram(files, {
    allowImportingTsExtensions: true,
    jsx: ts.JsxEmit.ReactJSX,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2023,
    types: [],
  });
  const checker = program.getTypeChecker();
  return entries.map(({ name, file }) => {
    const source = program.getSourceFile(file);
    const module = source && checker.getSymbolAtLocation(source);
    const symbols = module === undefined ? [] : checker.getExportsOfModule(module);
    const names = symbols.filter((symbol) => !isInternal(symbol, checker)).map((one) => one.name);
    return { name, file, names: names.toSorted() };
  });
}

/**
 * @returns {string[]} what site/reference/groups.mjs doesn't say once, so that the API reference can't
 *   be written
 */
export function misplacedNames() {
  return exportedNames().flatMap(({ name: entry, names }) => {
    const grouped = GROUPS[entry]?.flatMap((group) => group.names);
    if (grouped === undefined) return [];
    const all = [...new Set([...names, ...grouped])];
    return all
      .filter((name) => !names.includes(name) || grouped.filter((one) => one === name).length !== 1)
      .map((name) => `site/reference/groups.mjs must have each name of ${entry} once: ${name}`);
  });
}

/**
 * @param {ts.Symbol} symbol
 * @param {ts.TypeChecker} checker
 */
function isInternal(symbol, checker) {
  const own =
    (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol);
  return own.getJsDocTags(checker).some(({ name }) => name === "internal");
}
