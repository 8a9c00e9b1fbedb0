// The clone of the suite that CONFORMANCE_SUITE names. It is only read: the build gets a copy of one
// commit's files.
import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";

const run = promisify(execFile);

export const REPOSITORY = "openid-certification/conformance-suite";
/** The commit whose results docs/evidence/conformance.json contains. */
export const COMMIT = "12f2a4dac6462f8a4e95968bc7e478e02881e1a7";
/** What the server is built of. */
const SOURCES = ["pom.xml", ".mvn", "src/main"];

/**
 * @typedef {object} Checkout
 * @property {string} clone
 * @property {string} commit
 */

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<string | undefined>} how to get a clone, if there is none
 */
export async function missingCheckout(env) {
  const clone = env["CONFORMANCE_SUITE"] ?? "";
  const advice = `Clone ${REPOSITORY} from GitHub, and set CONFORMANCE_SUITE to the clone's folder. A bare clone is enough.`;
  if (clone === "") return `The conformance suite is missing. ${advice}`;
  if (!existsSync(clone)) return `CONFORMANCE_SUITE is "${clone}", which doesn't exist. ${advice}`;
  const isClone = await git(clone, "cat-file", "-e", "HEAD:pom.xml").then(
    () => true,
    () => false,
  );
  return isClone
    ? undefined
    : `CONFORMANCE_SUITE is "${clone}", which isn't a clone of the suite. ${advice}`;
}

/**
 * @param {NodeJS.ProcessEnv} env whose CONFORMANCE_SUITE is a clone
 * @param {string} [revision] default: the clone's HEAD
 * @returns {Promise<Checkout>}
 * @throws Error the clone lacks the revision
 */
export async function findCheckout(env, revision = "HEAD") {
  const clone = env["CONFORMANCE_SUITE"] ?? "";
  const commit = await git(clone, "rev-parse", "--verify", `${revision}^{commit}`).catch(() => {
    throw new Error(`The clone in CONFORMANCE_SUITE has no commit ${revision}. Fetch it first.`);
  });
  return { clone, commit };
}

/**
 * @param {Checkout} checkout
 * @param {string} folder gets the server's sources
 */
export async function copySources({ clone, commit }, folder) {
  // A commit from before the folder .mvn lacks it.
  const listed = await git(clone, "ls-tree", "--name-only", commit, "--", ...SOURCES);
  const archive = spawn("git", ["-C", clone, "archive", commit, ...listed.split("\n")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const unpack = spawn("tar", ["-x", "-C", folder], { stdio: ["pipe", "inherit", "inherit"] });
  archive.stdout.pipe(unpack.stdin);
  for (const code of await Promise.all([archive, unpack].map(exitCode)))
    if (code !== 0) throw new Error("The suite's sources can't be read from its clone.");
}

/** @param {import("node:child_process").ChildProcess} child */
function exitCode(child) {
  return new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
}

/**
 * @param {string} clone
 * @param {readonly string[]} args
 */
async function git(clone, ...args) {
  const { stdout } = await run("git", ["-C", clone, ...args]);
  return stdout.trim();
}
