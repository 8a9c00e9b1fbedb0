// Copies the types that the package publishes: the declarations, as tsc writes them, of each module
// that an entry's types need. Where `src/` is in the package, a map leads an editor to the source.
// Docstrings of what no entry shows are only in the source.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { decode, encode } from "@jridgewell/sourcemap-codec";
import ts from "typescript";
import { isShipped } from "./entries.mjs";
import { readJson } from "./run.mjs";
import { mapOfLines } from "./source-maps.mjs";

/**
 * @param {string} from the folder with the types of all modules
 * @param {string} to
 * @param {readonly string[]} entries files below `from`, such as `adapters/koa/koa.d.ts`
 */
export function copyEntryTypes(from, to, entries) {
  const types = neededTypes((file) => readFileSync(path.join(from, file), "utf8"), entries);
  const shown = shownTypes(types, entries);
  for (const [file, text] of types) {
    const target = path.join(to, file);
    mkdirSync(path.dirname(target), { recursive: true });
    const removed = shown.has(file) ? new Set() : docstringLines(text);
    const kept = (/** @type {readonly unknown[]} */ lines) =>
      lines.filter((_, line) => !removed.has(line));
    const published = kept(text.split("\n")).join("\n");
    if (isShipped(`src/${file.replace(/\.d\.ts$/, ".ts")}`)) {
      writeFileSync(target, published);
      const map = /** @type {{ mappings: string }} */ (readJson(path.join(from, `${file}.map`)));
      const mappings = encode(/** @type {any} */ (kept(decode(map.mappings))));
      writeFileSync(`${target}.map`, mapOfLines({ ...map, mappings }, published));
    } else writeFileSync(target, published.replace(/^\/\/# sourceMappingURL=.*\n?/m, ""));
  }
}

/**
 * @param {ReadonlyMap<string, string>} types
 * @param {readonly string[]} entries
 * @returns {Set<string>} the entries, and each file with something that these export, extend or give
 *   another name, at any number of removes
 */
export function shownTypes(types, entries) {
  const shown = new Set(entries);
  for (const file of shown) {
    const { statements } = ts.createSourceFile(file, types.get(file) ?? "", ts.ScriptTarget.Latest);
    /** @type {Map<string, string>} */
    const imported = new Map();
    const show = (/** @type {string | undefined} */ module) => {
      if (module?.startsWith(".") !== true) return;
      shown.add(path.posix.join(path.posix.dirname(file), module.replace(/\.js$/, ".d.ts")));
    };
    const showNamesIn = (/** @type {ts.Node} */ node) => {
      if (ts.isIdentifier(node)) show(imported.get(node.text));
      ts.forEachChild(node, showNamesIn);
    };
    for (const [name, module] of statements.flatMap(importsOf)) imported.set(name, module);
    for (const statement of statements) {
      if (ts.isExportDeclaration(statement)) {
        const { moduleSpecifier, exportClause } = statement;
        if (moduleSpecifier !== undefined)
          show(/** @type {ts.StringLiteral} */ (moduleSpecifier).text);
        else if (exportClause !== undefined) showNamesIn(exportClause);
      } else if (ts.isTypeAliasDeclaration(statement)) showNamesIn(statement.type);
      else if (ts.isInterfaceDeclaration(statement) || ts.isClassDeclaration(statement))
        statement.heritageClauses?.forEach(showNamesIn);
    }
  }
  return shown;
}

/**
 * @param {ts.Statement} statement
 * @returns {[name: string, module: string][]}
 */
function importsOf(statement) {
  if (!ts.isImportDeclaration(statement)) return [];
  const names = statement.importClause?.namedBindings;
  if (names === undefined || !ts.isNamedImports(names)) return [];
  const { text } = /** @type {ts.StringLiteral} */ (statement.moduleSpecifier);
  return names.elements.map(({ name }) => [name.text, text]);
}

/**
 * @param {string} text
 * @returns {Set<number>} the lines that consist of a docstring
 */
export function docstringLines(text) {
  const lines = text.split("\n");
  const found = new Set();
  let isInside = false;
  for (const [line, content] of lines.entries()) {
    const begins = /^\s*\/\*\*/.test(content);
    const ends = content.trimEnd().endsWith("*/");
    if (begins || isInside) found.add(line);
    isInside = (begins || isInside) && !ends;
  }
  return found;
}

/**
 * @param {(file: string) => string} read
 * @param {readonly string[]} entries
 * @returns {Map<string, string>} the text of the entries, and of each file that these import
 */
export function neededTypes(read, entries) {
  const texts = new Map(entries.map((file) => [file, read(file)]));
  // A Map also visits what is added during the loop.
  for (const [file, text] of texts) {
    for (const { fileName } of ts.preProcessFile(text).importedFiles) {
      if (!fileName.startsWith(".")) continue;
      const needed = path.posix.join(path.posix.dirname(file), fileName.replace(/\.js$/, ".d.ts"));
      if (!texts.has(needed)) texts.set(needed, read(needed));
    }
  }
  return texts;
}
