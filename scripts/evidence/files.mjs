// docs/evidence/: what the last run of each measurement gave, as JSON. Scripts write it, and the
// tables of docs/about/evidence.md and docs/explanation/performance.md are made of it.
import { readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import prettier from "prettier";
import { readJson, root } from "../run.mjs";

export const FOLDER = path.join(root, "docs/evidence");

/**
 * When, of which code and how something was measured. `null` stands for what wasn't recorded, and
 * the date `each run` for what the tests compare each time.
 *
 * @typedef {object} Run
 * @property {string | null} date
 * @property {string | null} commit
 * @property {string | null} command
 */

/**
 * @typedef {object} Row a number of `npm run bench`
 * @property {string} name
 * @property {number} value
 * @property {string} [unit]
 * @property {{ atLeast?: number, atMost?: number }} [goal]
 * @property {boolean} [isMet]
 * @property {number} [perSecond]
 * @property {string} [date] if it's another day than that of the others
 * @property {string} [commit]
 * @property {number} [p50] in ms
 * @property {number} [p99] in ms
 *
 * @typedef {Run & { title: string, on?: string, against?: string, rows: readonly Row[] }} Case
 */

/** @returns {string[]} the names of the files, without `.json` */
export function evidenceNames() {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith(".json"))
    .map((name) => name.slice(0, -".json".length));
}

/**
 * @param {string} name of the file, without `.json`
 * @returns {any}
 */
export function readEvidence(name) {
  return readJson(path.join(FOLDER, `${name}.json`));
}

/** @returns {Record<string, Case>} what `npm run bench` measured, by the case */
export function readBench() {
  return readEvidence("performance");
}

/**
 * @param {string} name of the file, without `.json`
 * @param {unknown} results
 */
export async function keepEvidence(name, results) {
  const file = path.join(FOLDER, `${name}.json`);
  const options = await prettier.resolveConfig(file);
  const text = JSON.stringify(results, undefined, 2);
  writeFileSync(file, await prettier.format(text, { ...options, parser: "json" }));
}
