// Builds the suite's server with Maven, once for each of its commits.
import { spawn } from "node:child_process";
import {
  createWriteStream,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { findProgram } from "../debian-program.mjs";
import { withFileLock } from "../file-lock.mjs";
import { findJava } from "../java.mjs";
import { root } from "../run.mjs";
import { copySources } from "./suite-checkout.mjs";
import { serverPom, withPublicWalletLibraries } from "./suite-pom.mjs";

const CACHE = path.join(root, "node_modules/.cache/conformance");
const JAR = "fapi-test-suite.jar";
/** The suite compiles for it. */
export const OLDEST_JAVA = 21;
/** A build takes minutes, and an older process may be at it. */
const LOCK_SECONDS = 3600;
const PROGRESS_SECONDS = 60;

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<string[]>} what is missing on this machine, and how to get it
 */
export async function missingForBuild(env) {
  const missing = [];
  if ((await findJava(OLDEST_JAVA, env)) === undefined)
    missing.push(
      `A JDK is missing: install JDK ${OLDEST_JAVA} or newer, and set JAVA_HOME to its folder if it isn't the one on PATH.`,
    );
  if ((await findProgram("mvn", env)) === undefined)
    missing.push("Maven is missing: install it (Debian: maven).");
  return missing;
}

/**
 * @typedef {object} Build
 * @property {string} java
 * @property {string} jar the suite's server
 * @property {readonly string[]} database class path of the MongoDB server in memory
 */

/**
 * @param {import("./suite-checkout.mjs").Checkout} checkout
 * @returns {Promise<Build>}
 */
export async function needSuite(checkout) {
  const java = await findJava(OLDEST_JAVA);
  if (java === undefined) throw new Error("A JDK is missing.");
  return withFileLock(
    path.join(CACHE, "build.lock"),
    async () => ({
      java,
      jar: await needServer(checkout, java),
      database: await needDatabase(java),
    }),
    { seconds: LOCK_SECONDS },
  );
}

/**
 * @param {import("./suite-checkout.mjs").Checkout} checkout
 * @param {string} java
 */
async function needServer(checkout, java) {
  const folder = path.join(CACHE, checkout.commit);
  const jar = path.join(folder, JAR);
  if (existsSync(jar)) return jar;
  const work = path.join(CACHE, `${checkout.commit}.begun`);
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  await copySources(checkout, work);
  const pom = path.join(work, "pom.xml");
  const reduced = serverPom(readFileSync(pom, "utf8"));
  writeFileSync(pom, reduced);
  const log = path.join(CACHE, `${checkout.commit}.log`);
  console.log(
    `Build: the conformance suite ${checkout.commit.slice(0, 8)}, once (several minutes)`,
  );
  // Otherwise Kotlin's compiler leaves a process behind.
  const wanted = ["-Dmaven.test.skip=true", "-Dkotlin.compiler.daemon=false", "package"];
  const isBuilt = await maven(java, work, wanted, log).then(
    () => true,
    () => false,
  );
  if (!isBuilt) {
    if (!/org\.multipaz\S*/.test(errorsIn(log))) throw buildFailed(log);
    writeFileSync(pom, withPublicWalletLibraries(reduced));
    await maven(java, work, wanted, log).catch(() => {
      throw buildFailed(log);
    });
  }
  mkdirSync(folder, { recursive: true });
  renameSync(path.join(work, "target", JAR), jar);
  rmSync(work, { recursive: true });
  return jar;
}

/** @param {string} java */
async function needDatabase(java) {
  const folder = path.join(CACHE, "database");
  const libraries = path.join(folder, "lib");
  const pom = readFileSync(path.join(import.meta.dirname, "database/pom.xml"), "utf8");
  const isCurrent =
    existsSync(libraries) && readFileSync(path.join(folder, "pom.xml"), "utf8") === pom;
  if (!isCurrent) {
    rmSync(folder, { recursive: true, force: true });
    cpSync(path.join(import.meta.dirname, "database"), folder, { recursive: true });
    const log = path.join(CACHE, "database.log");
    const goal = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies";
    await maven(java, folder, [goal, `-DoutputDirectory=${libraries}`], log).catch(() => {
      rmSync(folder, { recursive: true, force: true });
      throw buildFailed(log);
    });
  }
  return readdirSync(libraries).map((name) => path.join(libraries, name));
}

/**
 * @param {string} java
 * @param {string} folder
 * @param {readonly string[]} args
 * @param {string} log gets Maven's output
 * @returns {Promise<void>}
 */
function maven(java, folder, args, log) {
  const began = Date.now();
  const child = spawn("mvn", ["-B", "-ntp", ...args], {
    cwd: folder,
    env: { ...process.env, JAVA_HOME: path.dirname(path.dirname(java)) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const file = createWriteStream(log);
  child.stdout.pipe(file, { end: false });
  child.stderr.pipe(file, { end: false });
  const stop = () => void child.kill();
  process.once("exit", stop);
  const progress = setInterval(
    () => console.log(`  Maven, ${Math.round((Date.now() - began) / 1000)} s …`),
    PROGRESS_SECONDS * 1000,
  );
  return new Promise((resolve, reject) => {
    child.once("error", reject).once("close", (code) => {
      clearInterval(progress);
      process.off("exit", stop);
      file.end(() => (code === 0 ? resolve() : reject(new Error("Maven failed"))));
    });
  });
}

/** @param {string} log */
function errorsIn(log) {
  return readFileSync(log, "utf8")
    .split("\n")
    .filter((line) => line.includes("[ERROR]"))
    .join("\n");
}

/** @param {string} log */
function buildFailed(log) {
  return new Error(`Maven failed. Its output is in ${log}:\n${errorsIn(log).slice(0, 2000)}`);
}
