// Checks what a release publishes: each entry, the pages that an error or the README names, and
// nothing else; its size; its types; that each entry can be imported from the packed package; and
// that an application runs with it everywhere. The same for idpauth-conformance, as far as it applies.
// Takes the build as it is, or the folders of both packages in the arguments.
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
import { packageProgram } from "./locked-packages.mjs";
import { packConformance, packFolder, packPackage } from "./pack-package.mjs";
import { failingConsumers } from "./package-consumers.mjs";
import { failingDeclarations } from "./package-declarations.mjs";
import { pageWithLinks, readProject } from "./project-links.mjs";
import { headline, node, readJson, root } from "./run.mjs";

/** The most bytes of the tarball. */
const MAX_PACKED = 1_580_000;

headline("Package: what would be published");
const TOOLS = await needPackages("scripts/checks");
const NEXT = await needPackages("test/adapters/next-application");
/**
 * @typedef {{ exports: Record<string, string | { types: string, default: string }>, bin: Record<string, string> }} Manifest
 */
const manifest = /** @type {Manifest} */ (readJson(path.join(root, "package.json")));
const folder = mkdtempSync(path.join(tmpdir(), "idpauth-package-"));
const [, , staged, stagedSuites] = process.argv;
const pack = staged === undefined ? packPackage(folder) : packFolder(path.resolve(staged), folder);
const suites =
  stagedSuites === undefined
    ? packConformance(folder)
    : packFolder(path.resolve(stagedSuites), folder);
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
const suiteFiles = suites.files.map((file) => file.path);
problems.push(
  ...["dist/index.js", "dist/index.d.ts", "README.md", "LICENSE"]
    .filter((file) => !suiteFiles.includes(file))
    .map((file) => `missing in idpauth-conformance: ${file}`),
  ...suiteFiles
    .filter((file) => !/^(?:dist\/.+\.(?:js|d\.ts)|package\.json|README\.md|LICENSE)$/.test(file))
    .map((file) => `unexpected in idpauth-conformance: ${file}`),
);
if (pack.size > MAX_PACKED) problems.push(`too large: the limit is ${MAX_PACKED} bytes packed`);
for (const problem of problems) console.error(problem);
for (const { filename, files, size, unpackedSize } of [pack, suites])
  console.log(
    `${filename}: ${files.length} files, ${size} bytes packed, ${Math.round(unpackedSize / 1024)} KB unpacked`,
  );

try {
  const outcomes = [
    ...[pack, suites].flatMap(({ filename, tarball }) => [
      [`publint of ${filename}`, node([packageProgram(TOOLS, "publint"), "--strict", tarball])],
      // Four module resolutions: node10, node16 from ES modules and from CommonJS, and bundlers.
      // Node's require() loads ES modules.
      [
        `are the types wrong of ${filename}`,
        node([
          packageProgram(TOOLS, "@arethetypeswrong/cli"),
          tarball,
          "--profile",
          "strict",
          "--ignore-rules",
          "cjs-resolves-to-esm",
          "--format",
          "table-flipped",
        ]),
      ],
    ]),
    ["every entry imports", importEach()],
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

/** Beside nothing but what they depend on and the frameworks, which are the application's. */
function importEach() {
  const modules = path.join(folder, "node_modules");
  for (const [name, { tarball }] of /** @type {const} */ ([
    ["idpauth", pack],
    ["idpauth-conformance", suites],
  ])) {
    const unpacked = path.join(modules, name);
    mkdirSync(unpacked, { recursive: true });
    execFileSync("tar", ["-xzf", tarball, "-C", unpacked, "--strip-components=1"]);
  }
  const { dependencies, peerDependencies } = /** @type {Record<string, Record<string, string>>} */ (
    readJson(path.join(root, "package.json"))
  );
  for (const name of Object.keys({ ...dependencies, ...peerDependencies })) {
    mkdirSync(path.dirname(path.join(modules, name)), { recursive: true });
    const installed = [root, NEXT]
      .map((one) => path.join(one, "node_modules", name))
      .find((one) => existsSync(one));
    symlinkSync(installed ?? "", path.join(modules, name), "junction");
  }
  const entries = Object.keys(manifest.exports)
    .filter((entry) => !/\.(?:json|css)$/.test(entry))
    .map((entry) => path.posix.join("idpauth", entry))
    .concat("idpauth-conformance");
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
