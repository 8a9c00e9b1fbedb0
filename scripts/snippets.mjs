// The code blocks of the pages, and the files that they come from. A comment before a block names
// its file, from the project's root, and a region of it: <!-- snippet:
// docs/snippets/csrf/express.mjs#guard -->. In the file, the lines `// #region guard` and
// `// #endregion` enclose the region. Without a region, the block is the whole file. `npm run docs`
// fills the blocks.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { CONFORMANCE } from "./entries.mjs";
import { root } from "./run.mjs";

/**
 * @typedef {object} CodeBlock
 * @property {string} page
 * @property {number} line of the first line of code
 * @property {string} language js, mjs, jsx, ts or tsx
 * @property {string} code
 * @property {string} before the last line of text before the block, except the comment that names a
 *   snippet
 * @property {string | undefined} snippet the file that the block comes from
 * @property {string | undefined} region
 */

const FENCE = /^( *)```(js|mjs|jsx|ts|tsx)\b[^\n]*\n(.*?)^ *```$/gms;
const MARKER = /^ *<!-- snippet: ([^\s#]+)(?:#([\w-]+))? -->$/;
const MARKED_BLOCK =
  /^( *)<!-- snippet: ([^\s#]+)(?:#([\w-]+))? -->\n(\n? *```\w[^\n]*\n)(.*?)^( *```)$/gms;
const REGION = /^\s*\/\/ #region ([\w-]+)$/;
const END = /^\s*\/\/ #endregion\b/;

/** @returns {string[]} every page, from the project's root */
export function pages() {
  const names = readdirSync(path.join(root, "docs"), { recursive: true, encoding: "utf8" });
  const docs = names
    .filter((name) => name.endsWith(".md"))
    .map((name) => name.replaceAll(path.sep, "/"));
  return ["README.md", ...docs.toSorted().map((name) => `docs/${name}`)];
}

/** @returns {string[]} the pages outside docs/ that print commands, from the project's root */
export function otherPages() {
  const examples = readdirSync(path.join(root, "examples")).map(
    (name) => `examples/${name}/README.md`,
  );
  return [
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "demo/README.md",
    `${CONFORMANCE}/README.md`,
    ...examples.filter((file) => existsSync(path.join(root, file))),
  ];
}

/**
 * @param {string} page from the project's root
 * @param {string} text
 * @returns {CodeBlock[]}
 */
export function codeBlocks(page, text) {
  return [...text.matchAll(FENCE)].map(
    ({ index, 1: indent = "", 2: language = "", 3: code = "" }) => {
      const lines = text.slice(0, index).trimEnd().split("\n");
      const [, snippet, region] = MARKER.exec(lines.at(-1) ?? "") ?? [];
      const rest =
        snippet === undefined ? lines : lines.slice(0, -1).join("\n").trimEnd().split("\n");
      return {
        page,
        line: text.slice(0, index).split("\n").length + 1,
        language,
        code: code.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
        before: rest.at(-1) ?? "",
        snippet,
        region,
      };
    },
  );
}

/**
 * @param {string} text of a page
 * @returns {string[]} the files that its code blocks come from, in any language
 */
export function snippetsOf(text) {
  return [...text.matchAll(MARKED_BLOCK)].map(([, , file = ""]) => file);
}

/**
 * Fills the blocks of a page that come from files.
 *
 * @param {string} text
 * @param {(file: string) => string} [read] a file by its path from the project's root
 * @returns {string}
 * @throws Error a file has no such region
 */
export function withSnippets(text, read = (file) => readFileSync(path.join(root, file), "utf8")) {
  return text.replace(MARKED_BLOCK, (_block, indent, file, region, open, _code, close) => {
    const marker = `${indent}<!-- snippet: ${file}${region === undefined ? "" : `#${region}`} -->`;
    const code = regionOf(read(file), region, file).replaceAll(/^(?=.)/gm, indent);
    return `${marker}\n${open}${code}${close}`;
  });
}

/**
 * Returns a region without its indentation, or the whole file without the comments that enclose
 * regions. Regions can overlap.
 *
 * @param {string} source
 * @param {string | undefined} region
 * @param {string} file for the error
 * @returns {string} it ends with a line break
 * @throws Error
 */
export function regionOf(source, region, file) {
  /** @type {string[]} */
  const open = [];
  const lines = source.split("\n").filter((line) => {
    const [, name] = REGION.exec(line) ?? [];
    if (name !== undefined) open.push(name);
    else if (END.test(line)) open.pop();
    else return region === undefined || open.includes(region);
    return false;
  });
  const text = lines.join("\n").replace(/^\n+|\n+$/g, "");
  if (text === "")
    throw new Error(
      `${file} has no region ${region}. A page names it in the comment before a code block.`,
    );
  const margins = text
    .split("\n")
    .flatMap((line) => (line.trim() === "" ? [] : [line.search(/\S/)]));
  return `${text.replaceAll(new RegExp(`^ {${Math.min(...margins)}}`, "gm"), "")}\n`;
}
