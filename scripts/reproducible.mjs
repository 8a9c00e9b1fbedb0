// Builds and packs both packages in two clean folders, and compares the tarballs. What depends on the
// folder, on an earlier build or on the time makes them differ.
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./run.mjs";

/**
 * @typedef {object} Built
 * @property {Packed} idpauth
 * @property {Packed} conformance
 */

/**
 * @typedef {object} Packed one of the packages
 * @property {string} unpacked what the tarball contains
 * @property {string} tarball
 */

/**
 * Builds the files that git knows, and those that are new, as they are now.
 *
 * @param {string} temporary an empty folder
 * @param {import("./project-links.mjs").Project} project
 * @returns {Promise<Built>} the first build
 * @throws Error a build fails, or the tarballs differ; the message names the files
 */
export async function buildTwice(temporary, project) {
  // The lengths of the paths differ, too.
  const first = await buildIn(path.join(temporary, "first"), project);
  const second = await buildIn(path.join(temporary, "the-second-one"), project);
  for (const name of /** @type {const} */ (["idpauth", "conformance"]))
    assertSame(first[name], second[name]);
  return first;
}

/**
 * @param {Packed} one
 * @param {Packed} other
 */
function assertSame(one, other) {
  if (readFileSync(one.tarball).equals(readFileSync(other.tarball))) return;
  const files = differingFiles(one.unpacked, other.unpacked);
  const named = files.length === 0 ? ["their order, times or permissions"] : files;
  throw new Error(`Two builds of the same files differ:\n${named.join("\n")}`);
}

/**
 * @param {string} one
 * @param {string} other
 * @returns {string[]} the files that only one of the folders has, or that have another content
 */
function differingFiles(one, other) {
  const files = new Set([one, other].flatMap((folder) => filesIn(folder)));
  const read = (/** @type {string} */ file) => (existsSync(file) ? readFileSync(file) : undefined);
  return [...files].toSorted().filter((file) => {
    const content = read(path.join(one, file));
    const others = read(path.join(other, file));
    return content === undefined || others === undefined || !content.equals(others);
  });
}

/**
 * @param {string} folder
 * @param {import("./project-links.mjs").Project} project
 * @returns {Promise<Built>}
 */
async function buildIn(folder, project) {
  const tracked = execFileSync(
    "git",
    ["ls-files", "-z", "--cached", "--others", "--exclude-standard"],
    { cwd: root, encoding: "utf8" },
  );
  for (const file of tracked.split("\0")) {
    const source = path.join(root, file);
    // A deleted file is still tracked.
    if (file !== "" && existsSync(source)) cpSync(source, path.join(folder, file));
  }
  writeFileSync(path.join(folder, "project.json"), JSON.stringify(project));
  symlinkSync(path.join(root, "node_modules"), path.join(folder, "node_modules"), "junction");

  // The folder's own scripts work in it.
  const script = (/** @type {string} */ name) =>
    import(pathToFileURL(path.join(folder, "scripts", name)).href);
  const { output } = /** @type {typeof import("./run.mjs")} */ (await script("run.mjs"));
  const { code, text } = await output(["scripts/build.mjs"]);
  if (code !== 0) throw new Error(`The build failed:\n${text}`);
  const { packConformance, packPackage } = /** @type {typeof import("./pack-package.mjs")} */ (
    await script("pack-package.mjs")
  );
  return {
    idpauth: unpack(packPackage(folder).tarball, path.join(folder, "unpacked/idpauth")),
    conformance: unpack(packConformance(folder).tarball, path.join(folder, "unpacked/conformance")),
  };
}

/**
 * @param {string} tarball
 * @param {string} unpacked
 * @returns {Packed}
 */
function unpack(tarball, unpacked) {
  mkdirSync(unpacked, { recursive: true });
  execFileSync("tar", ["-xzf", tarball, "-C", unpacked, "--strip-components=1"]);
  return { unpacked, tarball };
}

/** @param {string} folder */
function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
}
