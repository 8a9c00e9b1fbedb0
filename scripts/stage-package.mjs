// Copies what npm publishes to another folder. There, its links get the project's addresses if
// project.json has them; a link to what isn't in the package becomes text if not. The repository
// stays as it is.
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { isApart } from "../site/.vitepress/sidebar.mjs";
import { CONFORMANCE, isShipped, packageEntries } from "./entries.mjs";
import {
  manifestWithLinks,
  messageWithLinks,
  missingAddresses,
  pageWithLinks,
  printedPage,
  withoutTests,
} from "./project-links.mjs";
import { readJson, root } from "./run.mjs";

/**
 * Takes the build as it is.
 *
 * @param {string} folder an empty folder
 * @param {import("./project-links.mjs").Project} project
 */
export function stagePackage(folder, project) {
  // Only what this writes may be published, and some members are for the repository alone.
  const {
    private: _,
    workspaces,
    devEngines,
    overrides,
    allowScripts,
    ...manifest
  } = /** @type {Record<string, unknown>} */ (readJson(path.join(root, "package.json")));
  const isComplete = missingAddresses(project).length === 0;
  const linked = isComplete ? manifestWithLinks(manifest, project) : manifest;
  const published = { ...linked, ...typesWithoutExports() };
  writeFileSync(path.join(folder, "package.json"), `${JSON.stringify(published, undefined, 2)}\n`);
  // npm chooses from these by "files".
  const parts = /** @type {string[]} */ (manifest["files"])
    .filter((file) => !file.startsWith("!"))
    .map((file) => file.split("/")[0] ?? "");
  for (const part of new Set(parts))
    cpSync(path.join(root, part), path.join(folder, part), { recursive: true });
  const addresses = isComplete ? project : { repository: "", documentation: "", contact: "" };
  linkPages(folder, "", addresses, String(manifest["version"]), isShipped);
  for (const file of filesIn(folder, /\.md$/)) change(folder, file, withoutComments);
  for (const file of filesIn(folder, /^(?:dist|src)\/.*\.(?:js|ts)$/))
    change(folder, file, (text) => messageWithLinks(text, project, String(manifest["version"])));
}

/**
 * As `stagePackage`, for the package with the suites for authors of stores and adapters.
 *
 * @param {string} folder an empty folder
 * @param {import("./project-links.mjs").Project} project
 */
export function stageConformance(folder, project) {
  // `devDependencies` names the other package by its folder, which only the repository has.
  const {
    private: _,
    devDependencies: _dev,
    ...manifest
  } = /** @type {Record<string, unknown>} */ (
    readJson(path.join(root, CONFORMANCE, "package.json"))
  );
  const isComplete = missingAddresses(project).length === 0;
  const linked = isComplete ? manifestWithLinks(manifest, project) : manifest;
  // Not in the repository's own manifest: `npm ci` would warn where npm runs on an older Node.js.
  const { engines } = /** @type {{ engines: object }} */ (
    readJson(path.join(root, "package.json"))
  );
  const published = { ...linked, engines, types: "./dist/index.d.ts" };
  writeFileSync(path.join(folder, "package.json"), `${JSON.stringify(published, undefined, 2)}\n`);
  for (const part of ["dist", "README.md"])
    cpSync(path.join(root, CONFORMANCE, part), path.join(folder, part), { recursive: true });
  cpSync(path.join(root, "LICENSE"), path.join(folder, "LICENSE"));
  const addresses = isComplete ? project : { repository: "", documentation: "", contact: "" };
  linkPages(folder, `${CONFORMANCE}/`, addresses, String(manifest["version"]), () => false);
}

/** What TypeScript's module resolution `node10` reads, which doesn't know `exports`. */
function typesWithoutExports() {
  const entries = packageEntries().filter(({ isProgram }) => !isProgram);
  const paths = entries.map(({ name, module }) => [
    name.replace(/^idpauth\/?/, ""),
    [`./dist/${module}.d.ts`],
  ]);
  return {
    types: "./dist/index.d.ts",
    typesVersions: { "*": Object.fromEntries(paths.filter(([name]) => name !== "")) },
  };
}

/**
 * Adds the addresses to the links of all pages below a folder.
 *
 * @param {string} folder
 * @param {string} prefix the folder's path in the repository: "" or "docs/"
 * @param {import("./project-links.mjs").Project} project
 * @param {string} version
 * @param {(file: string) => boolean} [isBeside] whether a file of the repository is in the folder
 */
export function linkPages(folder, prefix, project, version, isBeside) {
  for (const file of filesIn(folder, /\.md$/))
    change(folder, file, (text) => pageWithLinks(text, prefix + file, project, version, isBeside));
}

/**
 * Writes the commands of all pages below a folder in the form that works.
 *
 * @param {string} folder
 * @param {string} prefix the folder's path in the repository: "" or "docs/"
 */
export function printPages(folder, prefix) {
  for (const file of filesIn(folder, /\.md$/))
    change(folder, file, (text) => printedPage(text, prefix + file));
}

/**
 * Leaves out the columns of tests on the site's pages for users.
 *
 * @param {string} folder
 */
export function leaveOutTests(folder) {
  for (const file of filesIn(folder, /\.md$/))
    if (!isApart(file)) change(folder, file, withoutTests);
}

/**
 * Leaves out the comments, which only the site and `npm run docs` read.
 *
 * @param {string} text
 */
function withoutComments(text) {
  return text.replace(/^<!-- .* -->\n\n?/gm, "");
}

/**
 * @param {string} folder
 * @param {RegExp} pattern
 */
function filesIn(folder, pattern) {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) =>
    file.replaceAll(path.sep, "/"),
  );
  return files.filter((file) => pattern.test(file));
}

/**
 * @param {string} folder
 * @param {string} file
 * @param {(text: string) => string} edit
 */
function change(folder, file, edit) {
  const place = path.join(folder, file);
  const text = readFileSync(place, "utf8");
  const changed = edit(text);
  if (changed !== text) writeFileSync(place, changed);
}
