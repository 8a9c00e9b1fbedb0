// Prints the weight of the project for docs/contributing/architecture.md: lines of code, files and sizes.
//   npm run weight                  this checkout; builds first
//   npm run weight -- FOLDER        the lines and files of another checkout
//   npm run weight -- --check       compares the lines of this checkout with their budgets, without a build
import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { node, npm, readJson, root } from "./run.mjs";
import { ENTRY, loadedAtStart, overBudget } from "./weight-budgets.mjs";

/** Folders of src/ that an application does not load. */
const TOOLS = ["cli", "conformance", "testing"];

const [argument] = process.argv.slice(2);
const isCheck = argument === "--check";
const checkout = isCheck ? root : path.resolve(argument ?? root);
const source = path.join(checkout, "src");
const parts = readdirSync(source).toSorted();
const files = new Map(parts.map((part) => [part, filesOf(path.join(source, part)).filter((file) => file.endsWith(".ts"))]));
const lines = new Map([...files].map(([part, list]) => [part, list.map(linesOfCode)]));
const applicationParts = parts.filter((part) => !TOOLS.includes(part));

if (isCheck) check();
else print();

/** Compares the lines of code with their budgets. */
function check() {
  const folders = parts.filter((part) => !part.endsWith(".ts"));
  const start = [...loadedAtStart(ENTRY, (file) => readFileSync(path.join(root, file), "utf8"))];
  const weights = {
    ...Object.fromEntries(folders.map((part) => [part, sumOf([part])])),
    files: sumOf(parts.filter((part) => part.endsWith(".ts"))),
    library: sumOf(applicationParts),
    all: sumOf(parts),
    start: start.reduce((sum, file) => sum + linesOfCode(path.join(root, file)), 0),
  };
  const over = overBudget(weights);
  for (const line of over) console.error(line);
  console.log(
    over.length === 0
      ? `Weight: ${weights.all} lines in src/, ${weights.start} at startup, all within their budgets`
      : "Weight: over budget. Remove lines, or raise the number in scripts/weight-budgets.mjs and give the reason in the commit.",
  );
  process.exitCode = over.length === 0 ? 0 : 1;
}

function print() {
  console.log("| Folder | Files | Lines of code |\n|---|---|---|");
  for (const part of parts) console.log(row(`\`src/${part}\``, [part]));
  console.log(row("What an application can load", applicationParts));
  console.log(row("All", parts));
  const median = applicationParts.flatMap((part) => lines.get(part) ?? []).toSorted((one, other) => one - other);
  console.log(`\nMedian of what an application can load: ${median[Math.floor(median.length / 2)]} lines.`);

  if (checkout !== root || node(["scripts/build.mjs"]) !== 0) return;
  const [pack] = /** @type {[{ size: number, unpackedSize: number, files: unknown[] }]} */ (
    JSON.parse(npm(["pack", "--dry-run", "--json", "--ignore-scripts"], { stdio: ["ignore", "pipe", "ignore"] }))
  );
  const { dependencies } = /** @type {{ dependencies: Record<string, string> }} */ (readJson(path.join(root, "package.json")));
  const installed = Object.keys(dependencies).map((name) => bytesOf(path.join(root, "node_modules", name)));
  const all = installed.reduce((sum, bytes) => sum + bytes, pack.unpackedSize);
  console.log(`Packed: ${kilobytes(pack.size)}, ${pack.files.length} files.`);
  console.log(`Installed: ${kilobytes(pack.unpackedSize)}, with its dependencies ${kilobytes(all)}.`);
}

/** @param {readonly string[]} folders */
function sumOf(folders) {
  return folders.flatMap((folder) => lines.get(folder) ?? []).reduce((sum, count) => sum + count, 0);
}

/**
 * @param {string} name
 * @param {readonly string[]} folders
 */
function row(name, folders) {
  const count = folders.flatMap((folder) => files.get(folder) ?? []).length;
  return `| ${name} | ${count} | ${sumOf(folders)} |`;
}

/**
 * @param {string} file
 * @returns {number} lines with code: neither blank nor only a comment
 */
function linesOfCode(file) {
  const tree = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest);
  /** @type {Set<number>} */
  const found = new Set();
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isJSDoc(node)) return;
    const children = node.getChildren(tree);
    for (const child of children) visit(child);
    if (children.length > 0 || node.getWidth(tree) === 0) return;
    const last = tree.getLineAndCharacterOfPosition(node.getEnd()).line;
    for (let { line } = tree.getLineAndCharacterOfPosition(node.getStart(tree)); line <= last; line += 1) found.add(line);
  };
  visit(tree);
  return found.size;
}

/**
 * @param {string} place a file, or a folder
 * @returns {string[]}
 */
function filesOf(place) {
  if (!statSync(place).isDirectory()) return [place];
  const entries = readdirSync(place, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
}

/** @param {string} folder */
function bytesOf(folder) {
  return filesOf(folder).reduce((sum, file) => sum + statSync(file).size, 0);
}

/** @param {number} bytes */
function kilobytes(bytes) {
  return `${Math.round(bytes / 1024)} KB`;
}
