// What git knows of the commits at which something was measured.
import { execFileSync } from "node:child_process";
import { root } from "../run.mjs";

/**
 * The commit that is checked out, and whether the code is another one.
 *
 * @param {readonly string[]} code
 */
export function commitNow(code = ["src", "test"]) {
  const changes = git("status", "--porcelain", "--", ...code);
  return `${git("rev-parse", "--short=8", "HEAD")}${changes === "" ? "" : " with changes"}`;
}

/**
 * @param {string} command
 * @returns {{ date: string, commit: string, command: string, node: string }} of a run that ends now
 */
export function runNow(command) {
  const date = new Date().toISOString().slice(0, 10);
  return { date, commit: commitNow(), command, node: process.versions.node };
}

/** @param {readonly string[]} args */
function git(...args) {
  return execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: "pipe" }).trim();
}
