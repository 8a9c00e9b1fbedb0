// The builds that `npm start`, the fleet and other scripts run from: `.builds/HASH/` holds the
// bundled package and the demo, and HASH names the content of their sources. A finished build never
// changes, so any number of processes can run from it, and load further modules of it, while other
// processes build other sources.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { endWithNpm } from "./end-with-npm.mjs";
import { withFileLock } from "./file-lock.mjs";
import { root } from "./run.mjs";
import { hashOfSources } from "./source-hash.mjs";

const BUILDS = path.join(root, ".builds");

/** Milliseconds after which a build that no process runs from is removed. */
const KEPT = 24 * 3_600_000;

/** Milliseconds between two signs that a process runs from a build; well below KEPT. */
const SIGN = 3_600_000;

/** Seconds to wait for another process that builds the same sources; on a busy machine, it takes its time. */
const WAIT = 180;

/**
 * Builds the package and the demo if a source has changed since the last build.
 *
 * The types are neither checked nor written: `npm run build` does both.
 *
 * @returns {Promise<string>} the folder of the build: `dist/` has the package, `demo/` the demo
 */
export async function currentBuild() {
  const name = hashOfSources(["src", "demo"]);
  const folder = path.join(BUILDS, name);
  if (!existsSync(folder)) {
    const work = () => (existsSync(folder) ? undefined : build(folder));
    await withFileLock(path.join(BUILDS, `${name}.lock`), work, { seconds: WAIT });
  }
  keep(folder);
  return folder;
}

/**
 * Runs a program of the demo in this process.
 *
 * @param {"main.js" | "fleet.js"} file
 */
export async function runDemo(file) {
  endWithNpm();
  await import(pathToFileURL(path.join(await currentBuild(), "demo", file)).href);
}

/** @param {string} folder */
async function build(folder) {
  const began = performance.now();
  removeOldBuilds();
  // Loaded only to build: loading it takes longer than everything else that a second start does.
  const { bundlePackage, compileDemo } = await import("./bundle.mjs");
  const part = `${folder}.${process.pid}.part`;
  mkdirSync(part, { recursive: true });
  // With it, Node.js finds the package by its name from the demo.
  copyFileSync(path.join(root, "package.json"), path.join(part, "package.json"));
  const bundling = bundlePackage(path.join(part, "dist"));
  compileDemo(path.join(part, "demo"));
  await bundling;
  renameSync(part, folder);
  console.error(
    `Built:    .builds/${path.basename(folder)} in ${((performance.now() - began) / 1000).toFixed(1)} s`,
  );
}

/**
 * Marks the build as used, now and while this process runs.
 *
 * @param {string} folder
 */
function keep(folder) {
  const sign = () => {
    const now = new Date();
    utimesSync(folder, now, now);
  };
  sign();
  setInterval(sign, SIGN).unref();
}

/** Removes the builds, and what a killed build has left, that no process has used for a day. */
function removeOldBuilds() {
  for (const name of readdirSync(BUILDS)) {
    const file = path.join(BUILDS, name);
    if (Date.now() - statSync(file).mtimeMs > KEPT) rmSync(file, { recursive: true, force: true });
  }
}
