// Writes the types that the package publishes: what its entries export, and each declaration that
// this names. tsc writes all modules.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { mergeTypes } from "./merge-types.mjs";

/**
 * @typedef {object} Reference
 * @property {string} name
 * @property {string} [module] as an import names it; absent: the same file
 */

/**
 * @param {string} from the folder with the types of all modules
 * @param {string} to
 * @param {readonly string[]} entries files below `from`, such as `adapters/koa/koa.d.ts`
 */
export function writeEntryTypes(from, to, entries) {
  const types = reachableTypes((file) => readFileSync(path.join(from, file), "utf8"), entries);
  for (const [file, text] of mergeTypes(types, entries)) {
    mkdirSync(path.dirname(path.join(to, file)), { recursive: true });
    writeFileSync(path.join(to, file), text);
  }
}

/**
 * Returns the text of each file that the entries need, with only the declarations that they need.
 *
 * @param {(file: string) => string} read returns the text of a declaration file, as tsc writes it
 * @param {readonly string[]} entries
 * @returns {Map<string, string>}
 * @throws Error a file has `export *`, `import * as`, an import without names, `export default` or
 *   `declare module`
 */
export function reachableTypes(read, entries) {
  /** @type {Map<string, ts.SourceFile>} */
  const sources = new Map();
  /** @type {Set<ts.Node>} */
  const kept = new Set();
  /** @type {Set<string>} */
  const found = new Set();

  const open = (/** @type {string} */ file) => {
    const source =
      sources.get(file) ?? ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest, true);
    sources.set(file, source);
    return source;
  };
  const find = (/** @type {string} */ from, /** @type {Reference} */ { module, name }) => {
    if (module !== undefined && !module.startsWith(".")) return;
    const file =
      module === undefined
        ? from
        : path.posix.join(path.posix.dirname(from), module.replace(/\.js$/, ".d.ts"));
    const key = `${file} ${name}`;
    if (found.has(key)) return;
    found.add(key);
    for (const statement of open(file).statements) {
      for (const { node, references } of declarations(statement).filter(
        (one) => one.name === name,
      )) {
        kept.add(node);
        for (const reference of references) find(file, reference);
      }
    }
  };
  for (const file of entries) {
    for (const { name } of open(file).statements.filter(isExport).flatMap(declarations))
      find(file, { name });
  }
  return new Map(
    [...sources].map(([file, source]) => [
      file,
      source.statements.map((one) => textOf(one, kept)).join(""),
    ]),
  );
}

/**
 * Returns what a statement at the top of a file declares, imports or exports. `node` is the
 * statement, or the part of a list.
 *
 * @param {ts.Statement} statement
 * @returns {{ name: string, node: ts.Node, references: Reference[] }[]}
 */
function declarations(statement) {
  if (ts.isImportDeclaration(statement)) {
    const { name, namedBindings } = statement.importClause ?? {};
    if (name && !namedBindings)
      return [
        {
          name: name.text,
          node: name,
          references: [{ module: moduleOf(statement), name: "default" }],
        },
      ];
    return listed(namedBindings, statement);
  }
  if (ts.isExportDeclaration(statement)) return listed(statement.exportClause, statement);
  // An augmentation of the application's types is needed by nothing that an entry exports.
  if (ts.isModuleDeclaration(statement)) throw unexpected(statement);
  const named = ts.isVariableStatement(statement)
    ? statement.declarationList.declarations
    : [statement];
  return named.map((one) => {
    const name = ts.getNameOfDeclaration(
      /** @type {ts.Declaration} */ (/** @type {ts.Node} */ (one)),
    );
    if (!name || !ts.isIdentifier(name)) throw unexpected(statement);
    return { name: name.text, node: statement, references: mentions(statement) };
  });
}

/**
 * @param {ts.NamedImportBindings | ts.NamedExportBindings | undefined} list
 * @param {ts.ImportDeclaration | ts.ExportDeclaration} statement
 */
function listed(list, statement) {
  if (!list || !("elements" in list)) throw unexpected(statement);
  const module = statement.moduleSpecifier && { module: moduleOf(statement) };
  return [...list.elements].map((node) => ({
    name: node.name.text,
    node,
    references: [{ ...module, name: (node.propertyName ?? node.name).text }],
  }));
}

/**
 * Returns every name in a declaration. A name of a member is among them; it rarely is the name of a
 * declaration, too.
 *
 * @param {ts.Node} node
 * @returns {Reference[]}
 */
function mentions(node) {
  if (ts.isIdentifier(node)) return [{ name: node.text }];
  /** @type {Reference[]} */
  const found = [];
  if (ts.isImportTypeNode(node)) {
    const module =
      ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal)
        ? node.argument.literal.text
        : "";
    if (!node.qualifier) throw unexpected(node);
    found.push({ module, name: node.qualifier.getText().split(".")[0] ?? "" });
  }
  ts.forEachChild(node, (child) => void found.push(...mentions(child)));
  return found;
}

/**
 * @param {ts.Statement} statement
 * @param {ReadonlySet<ts.Node>} kept
 * @returns {string} empty for a statement that is not needed
 */
function textOf(statement, kept) {
  if (kept.has(statement)) return statement.getFullText().replace(/^\n*/, "").concat("\n");
  if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return "";
  const parts = declarations(statement);
  const needed = parts.filter(({ node }) => kept.has(node));
  // `export {}` says that the file exports nothing but what it exports by name.
  if (needed.length === parts.length) return `${statement.getText()}\n`;
  if (needed.length === 0) return "";
  const start = statement.getText().split("{")[0] ?? "";
  const module = statement.moduleSpecifier ? ` from ${statement.moduleSpecifier.getText()}` : "";
  return `${start}{ ${needed.map(({ node }) => node.getText()).join(", ")} }${module};\n`;
}

/** @param {ts.Statement} statement */
function isExport(statement) {
  return (
    ts.isExportDeclaration(statement) ||
    (ts.canHaveModifiers(statement) && statement.modifiers?.some(isExportKeyword) === true)
  );
}

/** @param {ts.Node} node */
function isExportKeyword(node) {
  return node.kind === ts.SyntaxKind.ExportKeyword;
}

/** @param {ts.ImportDeclaration | ts.ExportDeclaration} statement */
function moduleOf({ moduleSpecifier }) {
  return moduleSpecifier && ts.isStringLiteral(moduleSpecifier) ? moduleSpecifier.text : "";
}

/** @param {ts.Node} node */
function unexpected(node) {
  return new Error(
    `${node.getSourceFile().fileName}: scripts/entry-types.mjs cannot tell what this declares: ${node.getText()}`,
  );
}
