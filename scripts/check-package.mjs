// What `npm publish` would ship: every promised entry is in it, nothing else is.
import { execFileSync } from "node:child_process";
import path from "node:path";
import { headline, readJson, root } from "./run.mjs";

headline("Package: what would be published");
/** @typedef {{ exports: Record<string, string | { types: string, default: string }>, bin: Record<string, string> }} Manifest */
/** @typedef {{ files: { path: string }[], size: number, unpackedSize: number }} Pack */
const manifest = /** @type {Manifest} */ (readJson(path.join(root, "package.json")));
const listing = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: root, encoding: "utf8" });
const [pack] = /** @type {[Pack]} */ (JSON.parse(listing));
const shipped = new Set(pack.files.map((file) => file.path));

const promised = [
  ...Object.values(manifest.exports).flatMap((entry) => (typeof entry === "string" ? [entry] : [entry.types, entry.default])),
  ...Object.values(manifest.bin),
  "README.md",
  "LICENSE",
  "CHANGELOG.md",
].map((file) => file.replace(/^\.\//, ""));

const problems = [
  ...promised.filter((file) => !shipped.has(file)).map((file) => `missing: ${file}`),
  ...[...shipped]
    .filter(
      (file) => !/^dist\/.+\.(js|js\.map|d\.ts)$/.test(file) && !["package.json", "README.md", "LICENSE", "CHANGELOG.md"].includes(file),
    )
    .map((file) => `unexpected: ${file}`),
  ...Object.keys(manifest.exports)
    .filter((entry) => entry.includes("*"))
    .map((entry) => `wildcard: ${entry}`),
];
for (const problem of problems) console.error(problem);
console.log(`${shipped.size} files, ${Math.round(pack.size / 1024)} KB packed, ${Math.round(pack.unpackedSize / 1024)} KB unpacked`);
process.exitCode = problems.length > 0 ? 1 : 0;
