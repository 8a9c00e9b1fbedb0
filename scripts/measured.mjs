// The line at the head of a page of figures, which says when, with what and of which code they were
// measured. Scripts write it, and docs/about/evidence.md repeats it.
import { execFileSync } from "node:child_process";
import { root } from "./run.mjs";

/** Such a line, also of what was measured on several days, or is at each run. */
export const MEASURED =
  /^Measured (?:on |from |at )(\d{4}-\d\d-\d\d(?: to \d{4}-\d\d-\d\d)?|each run) (?:with|of) `([^`]+)`.*$/m;

/**
 * @param {string} command
 * @returns {string} for a run that ends now
 */
export function measured(command) {
  const date = new Date().toISOString().slice(0, 10);
  return `Measured on ${date} with \`${command}\`, at commit ${commitNow()}, on Node.js ${process.versions.node}.`;
}

/**
 * @param {readonly string[]} dates
 * @returns {string} `on 2026-11-27`, or from the first to the last one
 */
export function periodOf(dates) {
  const days = dates.toSorted();
  const [first = "", last = ""] = [days[0], days.at(-1)];
  return first === last ? `on ${first}` : `from ${first} to ${last}`;
}

/**
 * @param {string} page
 * @returns {{ line: string, date: string, command: string }} of its first line about a measurement
 * @throws Error the page has none
 */
export function measurementOf(page) {
  const [line, date, command] = MEASURED.exec(page) ?? [];
  if (line === undefined || date === undefined || command === undefined)
    throw new Error("A page of docs/evidence/ doesn't say when and with what it was measured.");
  return { line, date, command };
}

/**
 * The commit that is checked out, and whether the code is another one.
 *
 * @param {readonly string[]} code
 */
export function commitNow(code = ["src", "test"]) {
  const git = (/** @type {string[]} */ ...args) =>
    execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
  const changes = git("status", "--porcelain", "--", ...code);
  return `${git("rev-parse", "--short=8", "HEAD")}${changes === "" ? "" : " with changes"}`;
}
