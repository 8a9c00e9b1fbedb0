// Prints the weight of the project for docs/contributing/architecture.md: lines and tokens of code,
// files and sizes, and words of the documentation.
//   npm run weight              this checkout; builds first
//   npm run weight -- FOLDER    the lines, tokens, files and words of another checkout
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { tokensOf } from "./code-tokens.mjs";
import { loadedAtStart } from "./loaded-at-start.mjs";
import { packPackage } from "./pack-package.mjs";
import { pageWords, wordTable } from "./page-words.mjs";
import { node, readJson, root } from "./run.mjs";

/** The file that an Express application imports. */
const ENTRY = "src/adapters/express/express.ts";

/** Folders of src/ that an application does not load. */
const TOOLS = ["cli", "conformance", "testing"];

/** @typedef {{ lines: number, characters: number }} Code characters of the tokens, so that no line width counts */

const checkout = path.resolve(process.argv[2] ?? root);
const source = path.join(checkout, "src");
const parts = readdirSync(source).toSorted();
const code = new Map(
  parts.map((part) => [
    part,
    filesOf(path.join(source, part))
      .filter((file) => file.endsWith(".ts"))
      .map(codeOf),
  ]),
);
const applicationParts = parts.filter((part) => !TOOLS.includes(part));

console.log("| Folder | Files | Lines of code | Characters of tokens |\n|---|---|---|---|");
for (const part of parts) console.log(row(`\`src/${part}\``, inParts([part])));
console.log(row("What an application can load", inParts(applicationParts)));
const started = loadedAtStart(ENTRY, (file) => readFileSync(path.join(checkout, file), "utf8"));
const atStart = [...started].map((file) => codeOf(path.join(checkout, file)));
console.log(row("What an Express application loads at startup", atStart));
console.log(row("All", inParts(parts)));
const median = inParts(applicationParts)
  .map(({ lines }) => lines)
  .toSorted((one, other) => one - other);
console.log(
  `\nMedian of what an application can load: ${median[Math.floor(median.length / 2)]} lines.`,
);
console.log(`\n${wordTable(pageWords(checkout))}\n`);
if (checkout === root && node(["scripts/build.mjs"]) === 0) printSizes();

/** Prints the size of the packed and of the installed package. */
function printSizes() {
  const folder = mkdtempSync(path.join(tmpdir(), "idpauth-weight-"));
  const pack = packPackage(folder);
  rmSync(folder, { recursive: true });
  const { dependencies } = /** @type {{ dependencies: Record<string, string> }} */ (
    readJson(path.join(root, "package.json"))
  );
  const installed = Object.keys(dependencies).map((name) =>
    bytesOf(path.join(root, "node_modules", name)),
  );
  const all = installed.reduce((sum, bytes) => sum + bytes, pack.unpackedSize);
  console.log(`Packed: ${kilobytes(pack.size)}, ${pack.files.length} files.`);
  console.log(
    `Installed: ${kilobytes(pack.unpackedSize)}, with its dependencies ${kilobytes(all)}.`,
  );
}

/** @param {readonly string[]} folders */
function inParts(folders) {
  return folders.flatMap((folder) => code.get(folder) ?? []);
}

/**
 * @param {string} name
 * @param {readonly Code[]} files
 */
function row(name, files) {
  const lines = files.reduce((sum, file) => sum + file.lines, 0);
  const characters = files.reduce((sum, file) => sum + file.characters, 0);
  return `| ${name} | ${files.length} | ${lines} | ${characters} |`;
}

/**
 * @param {string} file
 * @returns {Code} `lines` with code: neither blank nor only a comment
 */
function codeOf(file) {
  /** @type {Set<number>} */
  const lines = new Set();
  let characters = 0;
  for (const { text, firstLine, lastLine } of tokensOf(readFileSync(file, "utf8"))) {
    characters += text.length;
    for (let line = firstLine; line <= lastLine; line += 1) lines.add(line);
  }
  return { lines: lines.size, characters };
}

/**
 * @param {string} place a file, or a folder
 * @returns {string[]}
 */
function filesOf(place) {
  if (!statSync(place).isDirectory()) return [place];
  const entries = readdirSync(place, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}

/** @param {string} folder */
function bytesOf(folder) {
  return filesOf(folder).reduce((sum, file) => sum + statSync(file).size, 0);
}

/** @param {number} bytes */
function kilobytes(bytes) {
  return `${Math.round(bytes / 1024)} KB`;
}
