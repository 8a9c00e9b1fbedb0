// Checks what a release publishes: each entry, the pages that an error or the README names, and
// nothing else; its size; its types; that each entry can be imported from the packed package; and
// that an application runs with it everywhere. Takes the build as it is, or the folder in the first
// argument.
import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { isShipped } from "./entries.mjs";
import { needPackages } from "./framework-install.mjs";
import { packFolder, packPackage } from "./pack-package.mjs";
import { failingConsumers } from "./package-consumers.mjs";
import { failingDeclarations } from "./package-declarations.mjs";
import { pageWithLinks, readProject } from "./project-links.mjs";
import { headline, node, readJson, root } from "./run.mjs";

/** The most bytes of the tarball. */
const MAX_PACKED = 1_330_000;

headline("Package: what would be published");
const TOOLS = await needPackages("scripts/check-package");
const NEXT = await needPackages("test/adapters/next-application");
/**
 * @typedef {{ exports: Record<string, string | { types: string, default: string }>, bin: Record<string, string> }} Manifest
 */
const manifest = /** @type {Manifest} */ (readJson(path.join(root, "package.json")));
const folder = mkdtempSync(path.join(tmpdir(), "idpauth-package-"));
const staged = process.argv[2];
const pack = staged === undefined ? packPackage(folder) : packFolder(path.resolve(staged), folder);
const shipped = new Set(pack.files.map((file) => file.path));

const promised = [
  ...Object.values(manifest.exports).flatMap((entry) =>
    typeof entry === "string" ? [entry] : [entry.types, entry.default],
  ),
  ...Object.values(manifest.bin),
  "README.md",
  "LICENSE",
  "SECURITY.md",
  ...pagesNamed(),
].map((file) => file.replace(/^\.\//, ""));

const problems = [
  ...promised.filter((file) => !shipped.has(file)).map((file) => `missing: ${file}`),
  ...[...shipped]
    .filter(
      (file) =>
        !/^(?:dist\/.+\.(?:js|d\.ts)(?:\.map)?|src\/.+\.ts|docs\/[\w-]+\/[\w-]+\.md)$/.test(file) &&
        !["package.json", "README.md", "LICENSE", "SECURITY.md"].includes(file),
    )
    .map((file) => `unexpected: ${file}`),
  ...Object.keys(manifest.exports)
    .filter((entry) => entry.includes("*"))
    .map((entry) => `wildcard: ${entry}`),
];
if (pack.size > MAX_PACKED) problems.push(`too large: the limit is ${MAX_PACKED} bytes packed`);
for (const problem of problems) console.error(problem);
console.log(
  `${shipped.size} files, ${pack.size} bytes packed, ${Math.round(pack.unpackedSize / 1024)} KB unpacked`,
);

try {
  const { tarball } = pack;
  const outcomes = [
    ["publint", node([path.join(TOOLS, "publint/src/cli.js"), "--strict", tarball])],
    // Four module resolutions: node10, node16 from ES modules and from CommonJS, and bundlers.
    // require() of ES modules works from Node 20.19 on.
    [
      "are the types wrong",
      node([
        path.join(TOOLS, "@arethetypeswrong/cli/dist/index.js"),
        tarball,
        "--profile",
        "strict",
        "--ignore-rules",
        "cjs-resolves-to-esm",
        "--format",
        "table-flipped",
      ]),
    ],
    ["every entry imports", importEach(tarball)],
  ];
  problems.push(...outcomes.filter(([, code]) => code !== 0).map(([name]) => `failed: ${name}`));
  problems.push(...(await failingConsumers(folder, TOOLS)), ...failingDeclarations(folder));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
for (const problem of problems.filter((text) => text.startsWith("failed"))) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

/**
 * Pages of documentation that the README and the code's texts, such as the remedy of an error,
 * name.
 */
function pagesNamed() {
  const code = readdirSync(path.join(root, "src"), { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts"),
  );
  const [readme, ...texts] = ["README.md", ...code.map((file) => path.join("src", file))].map(
    (file) => readFileSync(path.join(root, file), "utf8"),
  );
  // The package's README has no link to what isn't in the package.
  texts.push(pageWithLinks(readme ?? "", "README.md", readProject(), "", isShipped));
  return [...new Set(texts.flatMap((text) => text.match(/\bdocs\/[\w/-]+\.md\b/g) ?? []))];
}

/**
 * Beside nothing but what it depends on and the frameworks, which are the application's.
 *
 * @param {string} tarball
 */
function importEach(tarball) {
  const modules = path.join(folder, "node_modules");
  const unpacked = path.join(modules, "idpauth");
  mkdirSync(unpacked, { recursive: true });
  execFileSync("tar", ["-xzf", tarball, "-C", unpacked, "--strip-components=1"]);
  const { dependencies, peerDependencies } = /** @type {Record<string, Record<string, string>>} */ (
    readJson(path.join(root, "package.json"))
  );
  for (const name of Object.keys({ ...dependencies, ...peerDependencies })) {
    mkdirSync(path.dirname(path.join(modules, name)), { recursive: true });
    const installed = [path.join(root, "node_modules"), NEXT]
      .map((one) => path.join(one, name))
      .find((one) => existsSync(one));
    symlinkSync(installed ?? "", path.join(modules, name), "junction");
  }
  const entries = Object.keys(manifest.exports)
    .filter((entry) => !/\.(?:json|css)$/.test(entry))
    .map((entry) => path.posix.join("idpauth", entry));
  const code = entries
    .map((entry) => `console.log("${entry}:", Object.keys(await import("${entry}")).join(", "));`)
    .join("\n");
  return (
    spawnSync(process.execPath, ["--input-type=module", "-e", code], {
      cwd: folder,
      stdio: "inherit",
    }).status ?? 1
  );
}
