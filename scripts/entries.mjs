// Lists the entries of the package. package.json is the manifest: `./dist/X.js` in its `exports` or
// `bin` is built from `src/X.ts`.
import { existsSync } from "node:fs";
import path from "node:path";
import { readJson, root } from "./run.mjs";

/**
 * @typedef {object} Entry
 * @property {string} name how an application imports it, such as `idpauth/express`, or the name of
 *   a program
 * @property {string} module path below src/ and below dist/, without extension
 * @property {boolean} isProgram
 * @property {boolean} isForBrowsers
 * @property {boolean} isWhole whether it is one minified file, which a page loads without a bundler
 */

/** The folder of the package with the suites for authors of stores and adapters. */
export const CONFORMANCE = "packages/idpauth-conformance";

/**
 * @param {string} file from the project's root, with slashes
 * @returns {boolean} whether the package contains it, which "files" of package.json decides
 */
export function isShipped(file) {
  const { files } = /** @type {{ files: string[] }} */ (readJson(path.join(root, "package.json")));
  const isBelow = (/** @type {string} */ place) => file === place || file.startsWith(`${place}/`);
  return files.some(isBelow) && !files.some((one) => one.startsWith("!") && isBelow(one.slice(1)));
}

/** @returns {Entry[]} in the order of package.json */
export function packageEntries() {
  const manifest =
    /** @type {{ exports: Record<string, string | { default: string }>, bin: Record<string, string> }} */ (
      readJson(path.join(root, "package.json"))
    );
  const exported = Object.entries(manifest.exports).flatMap(([name, target]) =>
    typeof target === "string"
      ? []
      : [entry(path.posix.join("idpauth", name), target.default, false)],
  );
  const programs = Object.entries(manifest.bin).map(([name, file]) => entry(name, file, true));
  return [...exported, ...programs];
}

/**
 * @returns {Record<string, string[]>} `paths` of tsconfig.json, which has its own copy;
 *   test/scripts/manifest.unit.test.ts compares them
 */
export function sourcePaths() {
  const imported = packageEntries().filter((entry) => !entry.isProgram);
  return {
    ...Object.fromEntries(imported.map((one) => [one.name, [`./${sourceOf(one)}`]])),
    "idpauth-conformance": [`./${CONFORMANCE}/src/index.ts`],
  };
}

/**
 * @param {Entry} entry
 * @returns {string} the file that the entry is built from, from the project's root
 */
export function sourceOf({ module }) {
  const source = `src/${module}.ts`;
  return existsSync(path.join(root, `${source}x`)) ? `${source}x` : source;
}

/**
 * @param {string} name
 * @param {string} file in dist/
 * @param {boolean} isProgram
 * @returns {Entry}
 */
function entry(name, file, isProgram) {
  const module = file.replace(/^(?:\.\/)?dist\//, "").replace(/\.js$/, "");
  const isForBrowsers = /^(?:client|react)\//.test(module);
  return { name, module, isProgram, isForBrowsers, isWhole: module === "client/browser" };
}
