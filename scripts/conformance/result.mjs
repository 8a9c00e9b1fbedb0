// What the suite says of a module, and how it is kept.
import { keepEvidence, readEvidence } from "../evidence/files.mjs";

/**
 * @typedef {object} ModuleResult
 * @property {string} module
 * @property {string} result the suite's own: `PASSED`, `WARNING`, `FAILED`, `REVIEW`, `SKIPPED` or
 *   `UNKNOWN`
 * @property {string} [status] the suite's own, if it isn't `FINISHED`
 * @property {readonly Condition[]} [conditions] what failed, or why it was skipped
 * @property {string} [expected] the other result that is expected
 * @property {string} [reason] why
 * @property {string} [driver] what went wrong on our side
 * @property {number} seconds
 *
 * @typedef {object} Condition
 * @property {string} condition its name
 * @property {string} result
 * @property {string} message the suite's words
 * @property {string} [requirements] sections of specifications, in the suite's short form
 *
 * @typedef {object} PlanResult
 * @property {string} title
 * @property {string} name the suite's
 * @property {Record<string, string>} variant
 * @property {{ version: string, commit: string }} suite
 * @property {string} date
 * @property {string} commit of idpauth
 * @property {string} command
 * @property {string} node
 * @property {readonly ModuleResult[]} modules
 */

/** What the suite writes for a condition that isn't met, and for the end of a module. */
const TELLING = new Set(["FAILURE", "WARNING", "INTERRUPTED", "SKIPPED", "REVIEW"]);

/**
 * @param {string} module
 * @param {import("./suite-api.mjs").ModuleInfo} info
 * @param {readonly import("./suite-api.mjs").LogEntry[]} log
 * @param {import("./plans.mjs").Expected | undefined} expected
 * @returns {Omit<ModuleResult, "seconds">}
 */
export function resultOf(module, { status, result: said }, log, expected) {
  const result = said ?? "UNKNOWN";
  const conditions = result === "PASSED" ? [] : log.filter(isTelling).map(conditionOf);
  return {
    module,
    result,
    ...(status !== "FINISHED" && { status }),
    ...(conditions.length > 0 && { conditions }),
    ...(expected !== undefined && { expected: expected.result }),
    // Our reason is that of the expected result. Another one has the suite's words alone.
    ...(expected?.result === result && { reason: expected.reason }),
  };
}

/** @param {ModuleResult} result */
export function isExpected({ result, expected = "PASSED", driver }) {
  return result === expected && driver === undefined;
}

/**
 * @param {readonly ModuleResult[]} results
 * @returns {string} such as `7 passed, 1 failed`
 */
export function countOf(results) {
  const names = [...new Set(results.map(({ result }) => result))];
  return names
    .map((name) => [results.filter(({ result }) => result === name).length, name])
    .map(([count, name]) => `${count} ${String(name).toLowerCase()}`)
    .join(", ");
}

/** @returns {Record<string, PlanResult>} by the plan's key */
export function readResults() {
  return readEvidence("conformance");
}

/**
 * @param {Record<string, PlanResult>} results replace those of the same plans
 * @param {readonly string[]} known the plans that there are; results of others go
 */
export async function keepResults(results, known) {
  const all = Object.entries({ ...readResults(), ...results });
  await keepEvidence(
    "conformance",
    Object.fromEntries(all.filter(([plan]) => known.includes(plan))),
  );
}

/** @param {import("./suite-api.mjs").LogEntry} entry */
function isTelling({ result }) {
  return result !== undefined && TELLING.has(result);
}

/**
 * @param {import("./suite-api.mjs").LogEntry} entry
 * @returns {Condition}
 */
function conditionOf({ src = "", msg = "", result = "", requirements }) {
  return {
    condition: src,
    result,
    message: msg,
    ...(requirements !== undefined &&
      requirements.length > 0 && { requirements: requirements.join(", ") }),
  };
}
