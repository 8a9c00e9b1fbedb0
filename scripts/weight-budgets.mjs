// The budgets of lines of code. `npm run weight -- --check` fails if a part has more lines. A commit that needs more raises the number, and
// says why in its message.
import path from "node:path";
import ts from "typescript";

/** The file that an Express application imports. */
export const ENTRY = "src/adapters/express/express.ts";

/**
 * Lines of code by folder of src/. "files" are the files directly in src/. "library" is what an application
 * can load. "all" is all of src/. "start" is what {@link ENTRY} loads at startup.
 *
 * @type {Readonly<Record<string, number>>}
 */
export const BUDGETS = {
  access: 645,
  apis: 795,
  adapters: 1_915,
  application: 310,
  auth: 835,
  cli: 2_835,
  client: 550,
  config: 1_800,
  keys: 185,
  conformance: 7_560,
  endpoints: 1_515,
  events: 265,
  guard: 475,
  http: 240,
  pages: 2_175,
  ports: 145,
  provider: 1_945,
  react: 160,
  record: 820,
  sessions: 1_295,
  stores: 1_935,
  testing: 3_260,
  work: 145,
  files: 480,
  library: 18_600,
  all: 32_200,
  start: 10_400,
};

/**
 * @param {Readonly<Record<string, number>>} weights lines of code by part
 * @param {Readonly<Record<string, number>>} budgets
 * @returns {string[]} one line for each part that is over its budget, or that is missing in one of the two tables
 */
export function overBudget(weights, budgets = BUDGETS) {
  const parts = [...new Set([...Object.keys(weights), ...Object.keys(budgets)])];
  return parts.flatMap((part) => {
    const [lines, budget] = [weights[part], budgets[part]];
    if (lines === undefined) return `${part} has a budget, but does not exist. Remove it from scripts/weight-budgets.mjs.`;
    if (budget === undefined) return `${part} has ${lines} lines and no budget. Add it to scripts/weight-budgets.mjs.`;
    return lines > budget ? `${part} has ${lines} lines; its budget is ${budget}.` : [];
  });
}

/**
 * The files that load when an entry is imported: without types, and without what import() loads later.
 *
 * @param {string} entry path from the project's root, with slashes
 * @param {(file: string) => string} read
 * @returns {Set<string>} in the same form, with the entry
 */
export function loadedAtStart(entry, read) {
  const loaded = new Set([entry]);
  // A Set also visits what is added during the loop.
  for (const file of loaded) {
    for (const specifier of importedAtStart(file, read(file))) {
      if (specifier.startsWith(".")) loaded.add(path.posix.join(path.posix.dirname(file), specifier).replace(/\.js$/, ".ts"));
    }
  }
  return loaded;
}

/**
 * @param {string} file
 * @param {string} text
 * @returns {string[]} the addresses of its imports and re-exports of values
 */
function importedAtStart(file, text) {
  return ts.createSourceFile(file, text, ts.ScriptTarget.Latest).statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return [];
    if (isOfTypes(statement)) return [];
    const { moduleSpecifier } = statement;
    return moduleSpecifier !== undefined && ts.isStringLiteral(moduleSpecifier) ? moduleSpecifier.text : [];
  });
}

/** Whether a statement imports or exports types only. The bundler drops such statements. @param {ts.ImportDeclaration | ts.ExportDeclaration} statement */
function isOfTypes(statement) {
  if (ts.isExportDeclaration(statement)) return statement.isTypeOnly || areTypes(statement.exportClause);
  const clause = statement.importClause;
  return (
    clause !== undefined &&
    (clause.phaseModifier === ts.SyntaxKind.TypeKeyword || (clause.name === undefined && areTypes(clause.namedBindings)))
  );
}

/** @param {ts.NamedImportBindings | ts.NamedExportBindings | undefined} names */
function areTypes(names) {
  return (
    names !== undefined && (ts.isNamedImports(names) || ts.isNamedExports(names)) && names.elements.every(({ isTypeOnly }) => isTypeOnly)
  );
}
