// Brings Keycloak's distribution from Maven Central, and finds the Java that runs it. Both stay
// between runs in node_modules/.cache/interop/keycloak.
import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { withFileLock } from "../../file-lock.mjs";
import { root } from "../../run.mjs";
import { findProgram } from "../../debian-program.mjs";
import { findJava } from "../../java.mjs";

const run = promisify(execFile);
const CACHE = path.join(root, "node_modules/.cache/interop/keycloak");
/** Keycloak 24 and 26 run on it, and on newer ones. */
const OLDEST_JAVA = 17;
const COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy";
/** What is fixed when Keycloak is built; a start with the same options takes a third of the time. */
const BUILD = ["build", "--db=postgres", "--cache=local", "--https-client-auth=request"];

/**
 * @param {{ version: string, homeVariable: string }} wanted
 * @returns {Promise<string | undefined>} what is missing on this machine, and how to get it
 */
export async function missingForKeycloak({ version, homeVariable }) {
  if ((await findJava(OLDEST_JAVA)) === undefined)
    return `Java is missing: install a JDK ${OLDEST_JAVA} or newer (Debian: openjdk-17-jdk-headless), or set JAVA_HOME to one.`;
  const home = process.env[homeVariable];
  if (home !== undefined)
    return existsSync(startedBy(home))
      ? undefined
      : `${homeVariable} is "${home}", which isn't an unpacked Keycloak. Set it to the folder that has bin/kc.sh.`;
  if (existsSync(startedBy(unpacked(version))) || (await findProgram("mvn")) !== undefined)
    return undefined;
  return `Maven is missing: install it (Debian: maven), or unpack Keycloak ${version} and set ${homeVariable} to its folder.`;
}

/**
 * Keycloak, unpacked and built for PostgreSQL.
 *
 * @param {{ version: string, homeVariable: string, folder: string }} wanted `folder` gets a copy of
 *   an installation that exists, since a build changes it
 * @returns {Promise<{ home: string, java: string }>}
 */
export async function needKeycloak({ version, homeVariable, folder }) {
  const java = await findJava(OLDEST_JAVA);
  if (java === undefined) throw new Error("Java is missing.");
  const given = process.env[homeVariable];
  if (given === undefined)
    return withFileLock(path.join(CACHE, `${version}.lock`), async () => ({
      home: await fromMaven(version, java),
      java,
    }));
  const home = path.join(folder, "keycloak");
  cpSync(given, home, { recursive: true });
  await build(home, java);
  return { home, java };
}

/**
 * How to run Keycloak without its shell script, which isn't the server's own process.
 *
 * @param {string} home
 * @returns {readonly string[]} arguments of `java`; Keycloak's own follow
 */
export function javaArguments(home) {
  const opened = ["util", "util.concurrent", "security", "lang"];
  return [
    "-Xms64m",
    "-Xmx512m",
    // A server of a few minutes starts faster without what pays off in days.
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    `-Dkc.home.dir=${home}`,
    `-Djboss.server.config.dir=${path.join(home, "conf")}`,
    "-Djava.util.logging.manager=org.jboss.logmanager.LogManager",
    "-Dpicocli.disable.closures=true",
    "-Duser.language=en",
    ...opened.map((name) => `--add-opens=java.base/java.${name}=ALL-UNNAMED`),
    "-cp",
    startedBy(home),
    "io.quarkus.bootstrap.runner.QuarkusEntryPoint",
  ];
}

/**
 * @param {string} version
 * @param {string} java
 */
async function fromMaven(version, java) {
  const home = unpacked(version);
  if (existsSync(startedBy(home))) {
    if (!isBuilt(home)) await build(home, java);
    return home;
  }
  const name = `keycloak-quarkus-dist-${version}.zip`;
  const zip = path.join(CACHE, name);
  mkdirSync(CACHE, { recursive: true });
  if (!existsSync(zip)) {
    console.log(`Download: Keycloak ${version} from Maven Central`);
    await download(version);
  }
  console.log(`Build: Keycloak ${version} for PostgreSQL, once`);
  // Complete under this name only.
  const begun = path.join(CACHE, `${version}.begun`);
  rmSync(begun, { recursive: true, force: true });
  mkdirSync(begun);
  await run(path.join(path.dirname(java), "jar"), ["xf", zip], { cwd: begun });
  await build(path.join(begun, path.basename(home)), java);
  renameSync(path.join(begun, path.basename(home)), home);
  rmSync(begun, { recursive: true });
  rmSync(zip);
  return home;
}

/** @param {string} version */
async function download(version) {
  const artifact = `org.keycloak:keycloak-quarkus-dist:${version}:zip`;
  await run("mvn", ["-q", "-B", COPY, `-Dartifact=${artifact}`, `-DoutputDirectory=${CACHE}`], {
    cwd: CACHE,
  });
}

/**
 * @param {string} home
 * @param {string} java
 */
async function build(home, java) {
  rmSync(builtWith(home), { force: true });
  await run(java, [...javaArguments(home), ...BUILD], { maxBuffer: 10_000_000 });
  writeFileSync(builtWith(home), BUILD.join("\n"));
}

/**
 * An older version of this file may have built it with other options.
 *
 * @param {string} home
 */
function isBuilt(home) {
  const file = builtWith(home);
  return existsSync(file) && readFileSync(file, "utf8") === BUILD.join("\n");
}

/** @param {string} home */
function builtWith(home) {
  return path.join(home, "built-with.txt");
}

/** @param {string} version */
function unpacked(version) {
  return path.join(CACHE, `keycloak-${version}`);
}

/** @param {string} home */
function startedBy(home) {
  return path.join(home, "lib/quarkus-run.jar");
}
