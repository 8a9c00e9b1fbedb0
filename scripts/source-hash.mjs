// Names a build by the content of its sources, so that a build is made only when a source has
// changed.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { root } from "./run.mjs";

/** What decides how the sources are built. */
const BUILD = [
  "package.json",
  "package-lock.json",
  ...[
    "build.mjs",
    "demo-build.mjs",
    "bundle.mjs",
    "browser-size.mjs",
    "entries.mjs",
    "entry-types.mjs",
    "source-hash.mjs",
    "source-maps.mjs",
  ].map((file) => `scripts/${file}`),
];

/**
 * @param {readonly string[]} sources files, and folders with all that is in them, relative to the
 *   project's root
 * @returns {string} 16 hexadecimal digits, which change with each source, its name and the version
 *   of each dependency
 */
export function hashOfSources(sources) {
  return hashOf(
    [...BUILD, ...sources]
      .flatMap(filesOf)
      .flatMap((file) => [file, readFileSync(path.join(root, file))]),
  );
}

/**
 * @param {readonly (string | Buffer)[]} parts
 * @returns {string} 16 hexadecimal digits
 */
export function hashOf(parts) {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part).update("\0");
  return hash.digest("hex").slice(0, 16);
}

/**
 * @param {string} source
 * @returns {string[]} with slashes on every system, in the same order
 */
function filesOf(source) {
  if (path.extname(source) !== "") return [source];
  return readdirSync(path.join(root, source), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      path.relative(root, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, "/"),
    )
    .toSorted();
}
