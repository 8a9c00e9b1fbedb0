// The rules of ESLint that hold docs/contributing/grammar.md.

/** @typedef {import("eslint").Rule.RuleModule} RuleModule */
/** @typedef {import("eslint").Rule.RuleContext} RuleContext */
/** @typedef {import("estree").Node} Node */
/** @typedef {import("eslint").AST.Token} Token */
/** @typedef {any} AnyNode a node of TypeScript, which estree does not declare */

const FUNCTIONS = "FunctionDeclaration, FunctionExpression, ArrowFunctionExpression";

/**
 * Limits the lines of a function that are its own: lines with at least one token of the function
 * that is not inside an inner function. Blank lines and lines with only a comment have no token, so
 * they don't count, as in `max-lines-per-function` with `skipBlankLines` and `skipComments`. A line
 * that a function shares with an inner one, such as `run(() => {`, counts for both.
 *
 * @type {RuleModule}
 */
const maxOwnLines = {
  meta: {
    type: "suggestion",
    schema: [{ type: "integer", minimum: 1 }],
    messages: { long: "{{name}} has {{lines}} lines of its own; at most {{max}} are allowed." },
  },
  create(context) {
    const max = /** @type {number} */ (context.options[0]);
    /** @type {AnyNode[]} */
    const functions = [];
    return {
      [FUNCTIONS](/** @type {AnyNode} */ node) {
        functions.push(node);
      },
      "Program:exit"() {
        for (const [node, lines] of ownLines(functions, context.sourceCode.ast.tokens)) {
          if (lines <= max) continue;
          const data = { name: nameOf(node), lines: String(lines), max: String(max) };
          context.report({ loc: startOf(node), messageId: "long", data });
        }
      },
    };
  },
};

/**
 * @param {readonly AnyNode[]} functions in the order of the source, outer ones first
 * @param {readonly Token[]} tokens of the whole file
 * @returns {Map<AnyNode, number>}
 */
function ownLines(functions, tokens) {
  /** @type {Map<AnyNode, Set<number>>} */
  const lines = new Map(functions.map((node) => [node, new Set()]));
  /** @type {AnyNode[]} */
  const open = [];
  let next = 0;
  for (const token of tokens) {
    while (open.length > 0 && open.at(-1).range[1] <= token.range[0]) open.pop();
    while (next < functions.length && functions[next].range[0] <= token.range[0]) {
      open.push(functions[next]);
      next += 1;
    }
    const own = open.length > 0 ? lines.get(open.at(-1)) : undefined;
    for (let line = token.loc.start.line; line <= token.loc.end.line; line += 1) own?.add(line);
  }
  return new Map([...lines].map(([node, own]) => [node, own.size]));
}

/**
 * @param {AnyNode} node a function
 * @returns {string} for a message
 */
function nameOf(node) {
  const { parent } = node;
  const name =
    node.id?.name ??
    (parent.type === "VariableDeclarator" ? parent.id.name : undefined) ??
    (parent.type === "MethodDefinition" || parent.type === "Property"
      ? (parent.key.name ?? parent.key.value)
      : undefined);
  return name === undefined ? "The function" : `${name}()`;
}

/** @param {AnyNode} node */
function startOf({ loc }) {
  const { line, column } = /** @type {Token["loc"]["start"]} */ (loc.start);
  return { start: { line, column }, end: { line, column: column + 1 } };
}

/** The order of imports: Node's modules, packages, folders above, this folder; then by address. */
const GROUPS = [/^node:/, /^(?!\.)/, /^\.\.\//, /^\.\//];

/** @type {RuleModule} */
const sortedImports = {
  meta: {
    type: "suggestion",
    fixable: "code",
    schema: [],
    messages: { order: "The imports aren't in order: {{address}} comes earlier." },
  },
  create(context) {
    return {
      Program(node) {
        for (const block of importBlocks(node.body)) checkOrder(context, block);
      },
    };
  },
};

/**
 * @param {readonly AnyNode[]} statements
 * @returns {AnyNode[][]} imports without another statement between them. What is imported for its
 *   effect may have to run before what comes after it, so it separates two blocks.
 */
function importBlocks(statements) {
  /** @type {AnyNode[][]} */
  const blocks = [[]];
  for (const statement of statements) {
    if (statement.type === "ImportDeclaration" && statement.specifiers.length > 0)
      blocks.at(-1)?.push(statement);
    else blocks.push([]);
  }
  return blocks.filter(({ length }) => length > 1);
}

/** @param {RuleContext} context @param {readonly AnyNode[]} block */
function checkOrder({ report, sourceCode }, block) {
  const sorted = block.toSorted(byAddress);
  const at = block.findIndex((statement, index) => statement !== sorted[index]);
  if (at < 0) return;
  const [first, last] = [block[0], block.at(-1)];
  const between = block.slice(1).some((each) => sourceCode.getCommentsBefore(each).length > 0);
  report({
    node: block[at],
    messageId: "order",
    data: { address: sorted[at].source.value },
    fix: between
      ? null
      : (fixer) =>
          fixer.replaceTextRange(
            [first.range[0], last.range[1]],
            sorted.map((each) => sourceCode.getText(each)).join("\n"),
          ),
  });
}

/** @param {AnyNode} one @param {AnyNode} other */
function byAddress(one, other) {
  const [a, b] = [String(one.source.value), String(other.source.value)];
  const group = (/** @type {string} */ address) => GROUPS.findIndex((each) => each.test(address));
  return group(a) - group(b) || (a < b ? -1 : a > b ? 1 : 0);
}

/** The plugin, for eslint.config.js. */
export const grammar = {
  rules: {
    "max-own-lines": maxOwnLines,
    "sorted-imports": sortedImports,
  },
};
