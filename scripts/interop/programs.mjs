// The programs of Debian's packages that the servers and the application run on.
import path from "node:path";
import { pathToFileURL } from "node:url";
import { currentBuild } from "../demo-build.mjs";

/** @returns {Promise<typeof import("../../demo/debian-program.js")>} */
async function demoPart() {
  const file = path.join(await currentBuild(), "demo/debian-program.js");
  return import(pathToFileURL(file).href);
}

/**
 * @param {string} name
 * @param {string} debianPackage
 * @returns {Promise<string>} its path; installed by apt when root runs this
 * @throws Error it is not there, and how to get it
 */
export async function needProgram(name, debianPackage) {
  return (await demoPart()).needProgram(name, debianPackage);
}

/**
 * @param {string} name
 * @returns {Promise<string | undefined>} its path
 */
export async function findProgram(name) {
  return (await demoPart()).findProgram(name);
}
