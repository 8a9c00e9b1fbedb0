// The packages that a peer adds to a bare framework.
import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";

/**
 * Reads package-lock.json, which has nested packages under the path of the package that needs them.
 *
 * @param {string} folder with package-lock.json and node_modules
 * @param {readonly string[]} names the packages that the application has for the sign-in
 * @param {readonly string[]} bare those of the bare framework
 * @returns {{ bytes: number, packages: number }} what `names` need and `bare` don't
 */
export function addedPackages(folder, names, bare) {
  const { packages } = JSON.parse(readFileSync(path.join(folder, "package-lock.json"), "utf8"));
  const there = closure(packages, bare);
  const added = [...closure(packages, names)].filter((place) => !there.has(place));
  return {
    packages: added.length,
    bytes: added.reduce((sum, place) => sum + bytesOf(path.join(folder, place)), 0),
  };
}

/**
 * @typedef {Record<string, { dependencies?: Record<string, string>, optionalDependencies?: Record<string, string> }>} Packages
 *   by their places in node_modules
 */

/**
 * @param {Packages} packages
 * @param {readonly string[]} names
 * @returns {Set<string>} the places in node_modules of the packages and of all that they need
 */
function closure(packages, names) {
  /** @type {Set<string>} */
  const found = new Set();
  const visit = (/** @type {string} */ from, /** @type {string} */ name) => {
    const place = resolved(packages, from, name);
    if (place === undefined || found.has(place)) return;
    found.add(place);
    const { dependencies, optionalDependencies } = packages[place] ?? {};
    for (const each of Object.keys({ ...dependencies, ...optionalDependencies }))
      visit(place, each);
  };
  for (const name of names) visit("", name);
  return found;
}

/**
 * As Node.js resolves: beside the package, then in each folder above.
 *
 * @param {Packages} packages
 * @param {string} from
 * @param {string} name
 */
function resolved(packages, from, name) {
  for (
    let base = from;
    ;
    base = base.slice(0, Math.max(0, base.lastIndexOf("node_modules/") - 1))
  ) {
    const place = `${base === "" ? "" : `${base}/`}node_modules/${name}`;
    if (packages[place] !== undefined) return place;
    if (base === "") return undefined;
  }
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
