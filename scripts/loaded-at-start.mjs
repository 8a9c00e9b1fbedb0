// Which files of src/ an entry loads when it is imported.
import path from "node:path";
import ts from "typescript";

/**
 * The files that load when an entry is imported: without types, and without what import() loads
 * later.
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
      if (specifier.startsWith("."))
        loaded.add(path.posix.join(path.posix.dirname(file), specifier).replace(/\.js$/, ".ts"));
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
    return moduleSpecifier !== undefined && ts.isStringLiteral(moduleSpecifier)
      ? moduleSpecifier.text
      : [];
  });
}

/**
 * Whether a statement imports or exports types only. The bundler drops such statements.
 * @param {ts.ImportDeclaration | ts.ExportDeclaration} statement
 */
function isOfTypes(statement) {
  if (ts.isExportDeclaration(statement))
    return statement.isTypeOnly || areTypes(statement.exportClause);
  const clause = statement.importClause;
  return (
    clause !== undefined &&
    (clause.phaseModifier === ts.SyntaxKind.TypeKeyword ||
      (clause.name === undefined && areTypes(clause.namedBindings)))
  );
}

/** @param {ts.NamedImportBindings | ts.NamedExportBindings | undefined} names */
function areTypes(names) {
  return (
    names !== undefined &&
    (ts.isNamedImports(names) || ts.isNamedExports(names)) &&
    names.elements.every(({ isTypeOnly }) => isTypeOnly)
  );
}
