// The results of the OpenID Foundation's suite as a table.
import { table } from "../evidence/table.mjs";
import { PLANS } from "./plans.mjs";

/**
 * @typedef {{ result: string, reason?: string, conditions?: { message: string }[] }} Module
 * @typedef {{ title: string, suite: { version: string, commit: string }, date: string, commit: string, command: string, modules: Module[] }} Plan
 */

/**
 * @param {Record<string, Plan>} results docs/evidence/conformance.json
 * @param {(plan: Plan) => readonly string[]} whenAndWhere the last cells of a row
 */
export function conformanceTable(results, whenAndWhere) {
  const rows = PLANS.map(({ key, title }) => {
    const result = results[key];
    const name = `${title} (\`${key}\`)`;
    if (result === undefined) return [name, "not run", "", "", "", ""];
    const { suite, modules } = result;
    return [
      name,
      countsOf(modules).join(", "),
      reasonsOf(modules).join("<br>"),
      `${suite.version} (${suite.commit.slice(0, 8)})`,
      ...whenAndWhere(result),
    ];
  });
  return table(["Plan", "Modules", "What didn't pass", "Suite", "Measured", "Commit"], rows);
}

/** @param {readonly Module[]} modules */
function countsOf(modules) {
  const results = [...new Set(modules.map(({ result }) => result))].sort((one, other) =>
    one === "PASSED" ? -1 : other === "PASSED" ? 1 : one.localeCompare(other),
  );
  return results.map(
    (result) =>
      `${modules.filter((module) => module.result === result).length} ${result.toLowerCase()}`,
  );
}

/** Our reason, or the suite's own words. @param {readonly Module[]} modules */
function reasonsOf(modules) {
  const said = modules.flatMap(({ result, reason, conditions = [] }) =>
    result === "PASSED" ? [] : [reason ?? conditions.map(({ message }) => `“${message}”`)[0] ?? ""],
  );
  return [...new Set(said)].filter((text) => text !== "");
}
