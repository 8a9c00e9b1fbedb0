// Reads npm's lock files. A folder without one is part of the workspace of a folder above it, which
// has the lock file and most of the packages.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

/**
 * @typedef {object} LockedPackage
 * @property {string} [version]
 * @property {Record<string, string>} [bin]
 * @property {Record<string, string>} [dependencies]
 * @property {Record<string, string>} [optionalDependencies]
 * @property {Record<string, string>} [peerDependencies]
 *
 * @typedef {Record<string, LockedPackage>} Packages by their places, such as `node_modules/astro`
 *
 * @typedef {object} Lock
 * @property {string} folder that has the lock file
 * @property {string} member the folder that was asked for, relative to `folder`
 * @property {Packages} packages
 */

/**
 * Returns the lock file that npm uses for a folder.
 *
 * @param {string} folder
 * @returns {Lock}
 */
export function lockOf(folder) {
  for (let place = folder; ; place = path.dirname(place)) {
    const file = path.join(place, "package-lock.json");
    if (existsSync(file)) {
      const { packages } = JSON.parse(readFileSync(file, "utf8"));
      const member = path.relative(place, folder).replaceAll(path.sep, "/");
      return { folder: place, member, packages };
    }
    if (place === path.dirname(place))
      throw new Error(`${folder} is in no folder with a lock file.`);
  }
}

/**
 * Resolves a package as Node.js does: next to the package that needs it, then in each folder above.
 *
 * @param {Packages} packages
 * @param {string} from the place of a package, or a folder of the workspace
 * @param {string} name
 */
export function placeOf(packages, from, name) {
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
 * @param {Lock} lock
 * @param {readonly string[]} names of packages that the member has
 * @param {{ peers?: boolean }} [options] whether to follow the peer dependencies, too
 * @returns {Set<string>} the places of these packages and of all that they need
 */
export function placesOf({ member, packages }, names, { peers = false } = {}) {
  /** @type {Set<string>} */
  const found = new Set();
  const visit = (/** @type {string} */ from, /** @type {string} */ name) => {
    const place = placeOf(packages, from, name);
    if (place === undefined || found.has(place)) return;
    found.add(place);
    const { dependencies, optionalDependencies, peerDependencies } = packages[place] ?? {};
    const needed = { ...dependencies, ...optionalDependencies, ...(peers && peerDependencies) };
    for (const each of Object.keys(needed)) visit(place, each);
  };
  for (const name of names) visit(member, name);
  return found;
}

/**
 * @param {string} folder
 * @param {string} name
 * @returns {string | undefined} the version of a package that `npm ci` installs for a folder
 */
export function lockedVersion(folder, name) {
  const { member, packages } = lockOf(folder);
  const place = placeOf(packages, member, name);
  return place === undefined ? undefined : packages[place]?.version;
}

/**
 * @param {string} folder
 * @param {string} name
 * @returns {string} where `npm ci` installs a package for a folder
 */
export function packageFolder(folder, name) {
  return find(folder, name).place;
}

/**
 * @param {string} folder
 * @param {string} name
 * @returns {string} the first program of a package that `npm ci` installs for a folder
 */
export function packageProgram(folder, name) {
  const { place, bin = {} } = find(folder, name);
  const [program] = Object.values(bin);
  if (program === undefined) throw new Error(`The package ${name} has no program.`);
  return path.join(place, program);
}

/**
 * @param {string} folder
 * @param {string} name
 */
function find(folder, name) {
  const lock = lockOf(folder);
  const place = placeOf(lock.packages, lock.member, name);
  if (place === undefined) throw new Error(`The lock file of ${folder} has no package ${name}.`);
  return { ...lock.packages[place], place: path.join(lock.folder, place) };
}
