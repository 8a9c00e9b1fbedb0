// Links the tests that a page names to their files in the repository: the ids of
// docs/evidence/security.json, and paths such as `test/endpoints/login.test.ts`. In the repository,
// the pages name tests without an address.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { root } from "./run.mjs";
import { ID, readRows } from "./security-table.mjs";

/** Pages whose tables have the ids of docs/evidence/security.json. */
const PAGES_WITH_IDS = new Set([
  "docs/about/rfc-10017.md",
  "docs/about/standards.md",
  "docs/reference/threat-model.md",
]);

/** Pages whose paths in backticks are those of the repository, not of an application. */
const PAGES_WITH_PATHS = /^docs\/(?:about|explanation)\//;

/** A link, or code. */
const KEPT = String.raw`\[(?:[^[\]]|\[[^\]]*\])*\]\([^)]*\)|\`[^\`]*\``;

/** @typedef {(id: string) => readonly string[]} FilesOf the test files of an id, with slashes */

/**
 * @param {string} text
 * @param {string} page its path in the repository, with slashes
 * @param {string} files the address of the repository's files
 * @param {FilesOf} [filesOf]
 * @returns {string}
 */
export function withTestLinks(text, page, files, filesOf = filesOfId) {
  let linked = text;
  if (PAGES_WITH_IDS.has(page)) linked = withIdLinks(linked, files, filesOf);
  return PAGES_WITH_PATHS.test(page) ? withPathLinks(linked, files) : linked;
}

/**
 * Links each id in a table. An id in several files gets a number for each further one.
 *
 * @param {string} text
 * @param {string} files
 * @param {FilesOf} filesOf
 */
function withIdLinks(text, files, filesOf) {
  const pattern = new RegExp(
    String.raw`\`\[(${ID})\]\`|${KEPT}|(?<![\w.-])(${ID})(?![\w-]|\.\d)`,
    "g",
  );
  return text.replace(/^\|.*$/gm, (row) =>
    row.replace(pattern, (all, inCode, bare) => {
      const id = /** @type {string | undefined} */ (inCode ?? bare);
      const [first, ...others] = id !== undefined && knownIds().has(id) ? filesOf(id) : [];
      if (first === undefined) return all;
      const further = others.map((file, at) => ` [${at + 2}](${files}/${file})`);
      return `[${all}](${files}/${first})${further.join("")}`;
    }),
  );
}

/**
 * @param {string} text
 * @param {string} files
 */
function withPathLinks(text, files) {
  return text.replace(
    new RegExp(String.raw`\`(test/[\w./-]+)\`|${KEPT}|^ *\`\`\`[^]*?^ *\`\`\`$`, "gm"),
    (all, /** @type {string | undefined} */ file) =>
      file === undefined || !existsSync(path.join(root, file)) ? all : `[${all}](${files}/${file})`,
  );
}

/** @type {Set<string> | undefined} */
let known;

/** @returns {ReadonlySet<string>} the ids of the rows that apply */
function knownIds() {
  known ??= new Set(
    readRows()
      .filter(({ requirement }) => !requirement.startsWith("n/a: "))
      .map(({ id }) => id),
  );
  return known;
}

/** @type {Map<string, string[]> | undefined} */
let filesById;

/**
 * @param {string} id
 * @returns {readonly string[]}
 */
export function filesOfId(id) {
  filesById ??= findIds();
  // A group of tests can put the brackets around an id itself.
  return filesById.get(`[${id}]`) ?? filesById.get(`"${id}"`) ?? [];
}

/** @returns {Map<string, string[]>} the files in which an id is in brackets, or in quotes */
function findIds() {
  const pattern = new RegExp(String.raw`\[(?:${ID})\]|"(?:${ID})"`, "g");
  /** @type {Map<string, string[]>} */
  const files = new Map();
  for (const file of filesIn("test"))
    for (const [id] of new Set(read(file).match(pattern) ?? []).entries())
      files.set(id, [...(files.get(id) ?? []), file]);
  return files;
}

/**
 * @param {string} folder
 * @returns {string[]} the TypeScript files below it, without those of installed packages
 */
function filesIn(folder) {
  const entries = readdirSync(path.join(root, folder), { withFileTypes: true });
  const files = entries.flatMap((entry) => {
    const file = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : filesIn(file);
    return file.endsWith(".ts") ? file : [];
  });
  return files.toSorted();
}

/** @param {string} file */
function read(file) {
  return readFileSync(path.join(root, file), "utf8");
}
