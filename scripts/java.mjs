// Finds a JDK for the servers that scripts run.
import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { findProgram } from "./debian-program.mjs";

const run = promisify(execFile);
const JAVA_FOLDERS = "/usr/lib/jvm";

/**
 * @param {number} oldest major version
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<string | undefined>} `java` of a JDK that is new enough: the one on PATH, in
 *   JAVA_HOME or in Debian's folder
 */
export async function findJava(oldest, env = process.env) {
  const homes = [
    env["JAVA_HOME"],
    ...(existsSync(JAVA_FOLDERS) ? readdirSync(JAVA_FOLDERS) : []).map((name) =>
      path.join(JAVA_FOLDERS, name),
    ),
  ];
  const onPath = await findProgram("java", env);
  const candidates = [
    ...(onPath === undefined ? [] : [onPath]),
    ...homes.flatMap((home) => (home === undefined ? [] : [path.join(home, "bin/java")])),
  ];
  for (const java of candidates)
    if (existsSync(path.join(path.dirname(java), "jar")) && (await majorOf(java)) >= oldest)
      return java;
  return undefined;
}

/** @param {string} java */
async function majorOf(java) {
  const said = await run(java, ["-version"]).catch(() => ({ stderr: "" }));
  return Number(/version "(\d+)/.exec(said.stderr)?.[1] ?? 0);
}
