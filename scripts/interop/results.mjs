// docs/evidence/interop.json: what the last whole run of each server gave.
import { commitNow } from "../evidence/commits.mjs";
import { keepEvidence, readEvidence } from "../evidence/files.mjs";

/**
 * @typedef {object} ServerResult
 * @property {string} title
 * @property {string} version
 * @property {string} date
 * @property {string} commit
 * @property {string} command
 * @property {string} node
 * @property {string} [notes] how it was set up, as Markdown
 * @property {readonly import("./run-steps.mjs").StepResult[]} steps
 */

/** @returns {Record<string, ServerResult>} by the server's key */
export function readResults() {
  return readEvidence("interop");
}

/**
 * @param {string} key
 * @param {Pick<ServerResult, "title" | "version" | "notes" | "steps">} result
 */
export async function keepResult(key, { title, version, notes, steps }) {
  const results = readResults();
  results[key] = {
    title,
    version,
    date: new Date().toISOString().slice(0, 10),
    commit: commitNow(),
    command: `npm run interop -- ${key}`,
    node: process.versions.node,
    ...(notes !== undefined && { notes }),
    steps,
  };
  await keepEvidence("interop", results);
}

/** @param {readonly import("./run-steps.mjs").StepResult[]} steps */
export function count(steps) {
  const good = steps.filter(({ result }) => result === "good").length;
  const expected = steps.filter((step) => step.expected === step.result).length;
  const wrong = steps.length - good - expected;
  const parts = [`${good} of ${steps.length} good`];
  if (expected > 0) parts.push(`${expected} different, as expected`);
  if (wrong > 0) parts.push(`**${wrong} wrong**`);
  return parts.join(", ");
}
