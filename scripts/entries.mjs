// Lists the entries of the package. package.json is the manifest: `./dist/X.js` in its `exports` or `bin` is built from `src/X.ts`.
import path from "node:path";
import { readJson, root } from "./run.mjs";

/**
 * @typedef {object} Entry
 * @property {string} name how an application imports it, such as `idpauth/express`, or the name of a program
 * @property {string} module path below src/ and below dist/, without extension
 * @property {boolean} isProgram
 */

/** @returns {Entry[]} in the order of package.json */
export function packageEntries() {
  const manifest = /** @type {{ exports: Record<string, string | { default: string }>, bin: Record<string, string> }} */ (
    readJson(path.join(root, "package.json"))
  );
  const exported = Object.entries(manifest.exports).flatMap(([name, target]) =>
    typeof target === "string" ? [] : [{ name: path.posix.join("idpauth", name), module: moduleOf(target.default), isProgram: false }],
  );
  const programs = Object.entries(manifest.bin).map(([name, file]) => ({ name, module: moduleOf(file), isProgram: true }));
  return [...exported, ...programs];
}

/** @returns {Record<string, string[]>} `paths` of tsconfig.json, which has its own copy; test/scripts/manifest.test.ts compares them */
export function sourcePaths() {
  const imported = packageEntries().filter((entry) => !entry.isProgram);
  return Object.fromEntries(imported.map(({ name, module }) => [name, [`./src/${module}.ts`]]));
}

/** @param {string} file in dist/ */
function moduleOf(file) {
  return file.replace(/^(?:\.\/)?dist\//, "").replace(/\.js$/, "");
}
