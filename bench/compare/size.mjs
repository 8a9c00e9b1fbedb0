// The packages that a peer adds to a bare framework.
import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import { lockOf, placesOf } from "../../scripts/locked-packages.mjs";

/**
 * Reads the lock file, which has nested packages under the path of the package that needs them.
 *
 * @param {string} folder with a package.json, whose packages are installed
 * @param {readonly string[]} names the packages that the application has for the sign-in
 * @param {readonly string[]} bare those of the bare framework
 * @returns {{ bytes: number, packages: number }} what `names` need and `bare` don't
 */
export function addedPackages(folder, names, bare) {
  const lock = lockOf(folder);
  const there = placesOf(lock, bare);
  const added = [...placesOf(lock, names)].filter((place) => !there.has(place));
  return {
    packages: added.length,
    bytes: added.reduce((sum, place) => sum + bytesOf(path.join(lock.folder, place)), 0),
  };
}

/**
 * Without the packages that are nested in it, which count for themselves.
 *
 * @param {string} folder
 */
function bytesOf(folder) {
  let bytes = 0;
  /** @type {import("node:fs").Dirent[]} */
  let entries;
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch {
    // An optional package of another platform.
    return 0;
  }
  for (const entry of entries) {
    const place = path.join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== "node_modules") bytes += bytesOf(place);
    else if (entry.isFile()) bytes += statSync(place).size;
  }
  return bytes;
}
