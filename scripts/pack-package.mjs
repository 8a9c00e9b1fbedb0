// Packs the build as a release does, for everything that installs the package: examples, the quick
// start and the tests. `npm run pack` writes the tarballs of both packages to release/.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { readProject } from "./project-links.mjs";
import { npm, root } from "./run.mjs";
import { stageConformance, stagePackage } from "./stage-package.mjs";

/**
 * @typedef {object} Pack
 * @property {string} filename
 * @property {number} size in bytes
 * @property {number} unpackedSize in bytes
 * @property {readonly { readonly path: string }[]} files
 */

/**
 * Takes the build as it is.
 *
 * @param {string} folder gets the tarball
 * @returns {Pack & { readonly tarball: string }} `tarball` is its path
 */
export function packPackage(folder) {
  return packStaged(stagePackage, folder);
}

/**
 * As `packPackage`, for idpauth-conformance.
 *
 * @param {string} folder gets the tarball
 * @returns {Pack & { readonly tarball: string }}
 */
export function packConformance(folder) {
  return packStaged(stageConformance, folder);
}

/**
 * @param {typeof stagePackage} fill
 * @param {string} folder gets the tarball
 */
function packStaged(fill, folder) {
  const stage = mkdtempSync(path.join(tmpdir(), "idpauth-stage-"));
  try {
    fill(stage, readProject());
    return packFolder(stage, folder);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/**
 * @param {string} stage what `stagePackage` has filled
 * @param {string} folder gets the tarball
 * @returns {Pack & { readonly tarball: string }}
 */
export function packFolder(stage, folder) {
  // Without the path, npm packs the project if `npm run` has started this process.
  const [pack] = /** @type {[Pack]} */ (
    JSON.parse(npm(["pack", stage, "--json", "--ignore-scripts", "--pack-destination", folder]))
  );
  return { ...pack, tarball: path.join(folder, pack.filename) };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const folder = path.join(root, "release");
  mkdirSync(folder, { recursive: true });
  for (const { tarball } of [packPackage(folder), packConformance(folder)])
    console.log(path.relative(process.cwd(), tarball));
}
