// Installs the packages that only one framework's tests or examples need. They have a folder with a
// package.json of its own, so that `npm ci` in the project's root does not download them. The lock
// file is in that folder, or in a folder above whose workspace it belongs to. In a test file:
//   const installed = await installFramework(path.join(import.meta.dirname, "astro"));
//   describe.skipIf(!installed)("Astro", () => { … });
// To change the packages, edit that folder's package.json and run `npm install --package-lock-only`
// where the lock file is. The .npmrc there has the line `omit-lockfile-registry-resolved=true`.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { lockOf } from "./locked-packages.mjs";
import { root } from "./run.mjs";
import { withFileLock } from "./file-lock.mjs";

/** Seconds between two lines that say that npm is still at work. */
const PROGRESS = 15;

/** npm's own times between two attempts, in milliseconds, add up to a minute. */
const RETRIES = [
  "--fetch-retries=2",
  "--fetch-retry-mintimeout=500",
  "--fetch-retry-maxtimeout=2000",
];

/** What npm says when it cannot reach the registry. */
const NO_NETWORK =
  /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED)\b/;

/**
 * Runs `npm ci` where the folder's lock file is, if that file or a package.json changed since the
 * last time. It installs a whole workspace, so that each of its folders finds its packages.
 * Several processes may call this at once; one of them installs and the others wait.
 *
 * @param {string} folder it has a package.json
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<boolean>} false: npm cannot reach its registry. The reason is on stderr, and
 *   the tests are to be skipped
 * @throws Error npm failed for another reason; or there is no network and `CI` is `true`, where a
 *   skipped test is a failure
 */
export async function installFramework(folder, env = process.env) {
  const lock = lockOf(folder);
  // It would empty the folder that this process runs from.
  if (lock.folder === root) throw new Error(`${folder} has no lock file but the project's own.`);
  const name = path.relative(root, lock.folder).replaceAll(path.sep, "/");
  const stamp = path.join(lock.folder, "node_modules/.installed");
  const wanted = fingerprint(lock);
  const isInstalled = () => existsSync(stamp) && readFileSync(stamp, "utf8") === wanted;
  if (isInstalled()) return true;
  return withFileLock(path.join(lock.folder, ".install.lock"), async () => {
    if (isInstalled()) return true;
    const failure = await install(lock.folder, name, env);
    if (failure === undefined) {
      writeFileSync(stamp, wanted);
      return true;
    }
    const message = `npm ci failed in ${name}: ${failure}`;
    if (!NO_NETWORK.test(failure) || env["CI"] === "true") throw new Error(message);
    process.stderr.write(
      `tests are skipped, ${message.split("\n")[0] ?? ""}. They need the packages of ${name}/package-lock.json\n`,
    );
    return false;
  });
}

/**
 * Installs the packages that only one of the project's commands needs.
 *
 * @param {string} name of the folder with their package.json, relative to the project's root
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<string>} the folder
 * @throws Error npm cannot install them
 */
export async function needPackages(name, env = process.env) {
  const folder = path.join(root, name);
  if (!(await installFramework(folder, env)))
    throw new Error(`This command needs the packages that ${name}/package.json names.`);
  return folder;
}

/**
 * @param {import("./locked-packages.mjs").Lock} lock
 * @returns {string} another one after each change that asks for another installation
 */
function fingerprint({ folder, packages }) {
  const members = Object.keys(packages).filter((place) => !/(?:^|\/)node_modules\//.test(place));
  const manifests = members.map((member) => path.join(member, "package.json"));
  const hash = createHash("sha256");
  for (const file of ["package-lock.json", ...manifests])
    hash.update(readFileSync(path.join(folder, file))).update("\0");
  return `${hash.digest("hex")} ${process.platform} ${process.arch}\n`;
}

/**
 * No package runs its scripts, except those that `allowScripts` in package.json lists.
 *
 * @param {string} folder with the lock file
 * @param {string} name
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<string | undefined>} what npm said when it failed
 */
async function install(folder, name, env) {
  const began = Date.now();
  const seconds = () => Math.round((Date.now() - began) / 1000);
  const say = (/** @type {string} */ text) => process.stderr.write(`${text}\n`);
  say(`installing ${name} for its tests, once ...`);
  const progress = setInterval(
    () => say(`still installing ${name}, ${seconds()} s ...`),
    PROGRESS * 1000,
  );
  const { allowScripts = {} } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
  const allowed = Object.keys(allowScripts).filter((each) => allowScripts[each]);
  let failure = await npm(folder, env, ["ci", "--ignore-scripts", ...RETRIES]);
  if (failure === undefined && allowed.length > 0)
    failure = await npm(folder, env, ["rebuild", "--ignore-scripts=false", ...allowed]);
  clearInterval(progress);
  if (failure === undefined) say(`installed ${name} in ${seconds()} s`);
  return failure;
}

/**
 * @param {string} folder
 * @param {NodeJS.ProcessEnv} env
 * @param {readonly string[]} args
 * @returns {Promise<string | undefined>} what npm said when it failed
 */
async function npm(folder, env, args) {
  const child = spawn("npm", [...args, "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: folder,
    env: environment(env),
    stdio: ["ignore", "ignore", "pipe"],
    // npm is a .cmd file on Windows, which only a shell runs.
    shell: process.platform === "win32",
  });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (/** @type {string} */ chunk) => {
    // The reason comes first, npm's help last.
    errors = (errors + chunk).slice(0, 2000);
  });
  /** @type {number | null} */
  const code = await new Promise((resolve, reject) =>
    child.on("error", reject).on("close", resolve),
  );
  return code === 0 ? undefined : errors.trim() || `exit code ${code}`;
}

/**
 * Without what `npm test` and this project's scripts set for themselves: with it, npm works on the
 * project's root.
 *
 * @param {NodeJS.ProcessEnv} env
 */
function environment(env) {
  const own =
    /^(?:npm_package_.*|npm_lifecycle_.*|npm_command|npm_config_(?:local_)?prefix|INIT_CWD|NODE_OPTIONS|NODE_ENV|SECRET_SCAN_FOLDER)$/i;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !own.test(name)));
}
