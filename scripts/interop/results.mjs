// docs/evidence/interop.json: what the last whole run of each server gave.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { commitNow } from "../measured.mjs";
import { root } from "../run.mjs";

/**
 * @typedef {object} ServerResult
 * @property {string} title
 * @property {string} version
 * @property {string} date
 * @property {string} commit
 * @property {string} node
 * @property {string} [notes] Markdown, above its table on the page
 * @property {readonly import("./run-steps.mjs").StepResult[]} steps
 */

const FILE = path.join(root, "docs/evidence/interop.json");

/** @returns {Record<string, ServerResult>} by the server's key */
export function readResults() {
  return JSON.parse(readFileSync(FILE, "utf8"));
}

/**
 * @param {string} key
 * @param {Pick<ServerResult, "title" | "version" | "notes" | "steps">} result
 */
export function keepResult(key, { title, version, notes, steps }) {
  const results = readResults();
  results[key] = {
    title,
    version,
    date: new Date().toISOString().slice(0, 10),
    commit: commitNow(),
    node: process.versions.node,
    ...(notes !== undefined && { notes }),
    steps,
  };
  writeFileSync(FILE, `${JSON.stringify(results, undefined, 2)}\n`);
}
