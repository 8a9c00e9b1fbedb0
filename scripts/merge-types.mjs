// Merges the declaration files of each part of src/ into one, which makes the package smaller. The
// files of the entries stay.
import path from "node:path";

/** How tsc writes a list of names, and the start of a declaration. */
const LIST = /^(import|export)( type)? \{ (.*?),? \}(?: from "(.+)")?;$/;
const DECLARATION =
  /^(?:export )?(?:declare )?(?:abstract )?(?:class|const|function|interface|let|type) (\w+)/;
const IMPORT_IN_TYPE = /(?<=\bimport\(")\.[^"]+(?="\))/g;

/**
 * @typedef {object} Output
 * @property {Map<string, Map<string, boolean>>} imports module -> name -> whether only the type is
 *   imported
 * @property {Map<string, string>} owners name of a declaration -> its file
 * @property {string[]} body lines
 */

/**
 * @param {ReadonlyMap<string, string>} files path -> text
 * @param {readonly string[]} entries
 * @returns {Map<string, string>}
 * @throws Error two files of one part declare the same name, or one gives another name to what it
 *   imports from the other
 */
export function mergeTypes(files, entries) {
  const outputOf = (/** @type {string} */ file) =>
    entries.includes(file) ? file : path.posix.join(partOf(file), "types.d.ts");
  /** @type {Map<string, Output>} */
  const outputs = new Map();
  for (const [file, text] of files) {
    const name = outputOf(file);
    const output = outputs.get(name) ?? { imports: new Map(), owners: new Map(), body: [] };
    outputs.set(name, output);
    const renamed = (/** @type {string} */ module) => {
      if (!module.startsWith(".")) return module;
      const target = outputOf(
        path.posix.join(path.posix.dirname(file), module.replace(/\.js$/, ".d.ts")),
      );
      const relative = path.posix
        .relative(path.posix.dirname(name), target)
        .replace(/\.d\.ts$/, ".js");
      return relative.startsWith(".") ? relative : `./${relative}`;
    };
    addFile(output, file, text, renamed, `./${path.posix.basename(name, ".d.ts")}.js`);
  }
  return new Map(
    [...outputs].map(([name, { imports, body }]) => [
      name,
      [...[...imports].map(importLine), ...body, ""].join("\n"),
    ]),
  );
}

/**
 * @param {Output} output
 * @param {string} file
 * @param {string} text
 * @param {(module: string) => string} renamed
 * @param {string} self the output, as a module of its folder names it
 */
function addFile({ imports, owners, body }, file, text, renamed, self) {
  /**
   * @type {Set<string>} what the file imports from the same output, where it is exported already
   */
  const own = new Set();
  for (const line of text.trimEnd().split("\n")) {
    const declared = DECLARATION.exec(line)?.[1];
    if (declared !== undefined) {
      const owner = owners.get(declared) ?? file;
      if (owner !== file)
        throw new Error(
          `${owner} and ${file} both declare ${declared}, and the package needs both. Rename one.`,
        );
      owners.set(declared, file);
    }
    const [, keyword, type, list = "", from] = LIST.exec(line) ?? [];
    const module = from && renamed(from);
    const names = list.split(", ").map((one) => ({
      isType: Boolean(type) || one.startsWith("type "),
      name: one.replace(/^type /, ""),
    }));
    if (keyword === undefined) body.push(line.replaceAll(IMPORT_IN_TYPE, renamed));
    else if (module === self) {
      if (list.includes(" as "))
        throw new Error(`${file} gives a name of its own part another name: ${line}`);
      for (const { name } of names) own.add(name);
    } else if (keyword === "import" && module) {
      const imported = imports.get(module) ?? new Map();
      for (const { name, isType } of names)
        imported.set(name, isType && imported.get(name) !== false);
      imports.set(module, imported);
    } else {
      const others = names
        .filter(({ name }) => !own.has(name))
        .map(({ name, isType }) => (isType ? `type ${name}` : name));
      if (others.length > 0)
        body.push(`export { ${others.join(", ")} }${module ? ` from "${module}"` : ""};`);
    }
  }
}

/** @param {string} file */
function partOf(file) {
  const folders = path.posix.dirname(file).split("/");
  // An application has the packages of one adapter.
  return folders.slice(0, folders[0] === "adapters" ? 2 : 1).join("/");
}

/** @param {[module: string, names: ReadonlyMap<string, boolean>]} imported */
function importLine([module, names]) {
  const list = [...names].map(([name, isType]) => (isType ? `type ${name}` : name)).join(", ");
  return `import { ${list} } from "${module}";`;
}
