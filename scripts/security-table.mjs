// Holds the tables in docs/security.md to the run of the tests: each test that a row names was run and passed. Called by `npm test`
// with vitest's JSON report.
import { readFileSync } from "node:fs";
import path from "node:path";
import { readJson, root } from "./run.mjs";

/** Between a file and a test, and between a describe and what is in it. */
const STEP = " › ";

/** @typedef {{ readonly id: string, readonly file: string, readonly name: string }} Reference */
/** @typedef {{ readonly id: string, readonly references: readonly Reference[], readonly reason: string | undefined }} Row */
/** @typedef {{ readonly testResults: readonly { readonly name: string, readonly assertionResults: readonly Assertion[] }[] }} Report */
/** @typedef {{ readonly ancestorTitles: readonly string[], readonly title: string, readonly status: string }} Assertion */

/**
 * The rows of every table with three columns: an id, what is demanded, and what shows it.
 *
 * @param {string} markdown
 * @returns {Row[]}
 */
export function rowsOf(markdown) {
  return markdown.split("\n").flatMap((line) => {
    const cells = line.startsWith("| ") ? line.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|")) : [];
    const [, id = "", , proof = ""] = cells;
    if (cells.length !== 5 || id === "" || id === "Id" || /^-+$/.test(id)) return [];
    const reason = /^n\/a: (.+)$/.exec(proof)?.[1];
    const references = proof.split("<br>").flatMap((part) => {
      const found = /^`([^`]+\.test\.ts)` › (.+)$/.exec(part.trim());
      return found === null ? [] : [{ id, file: found[1] ?? "", name: found[2] ?? "" }];
    });
    return [{ id, references, reason }];
  });
}

/**
 * What is wrong with the rows, judged by a run: a row that shows nothing, and a test that was not run or did not pass.
 *
 * @param {readonly Row[]} rows
 * @param {Report} report
 * @returns {string[]}
 */
export function mistakesIn(rows, report) {
  /** @type {Map<string, { name: string, status: string }[]>} */
  const tests = new Map();
  for (const { name, assertionResults } of report.testResults) {
    const file = path.relative(root, name);
    tests.set(
      file,
      assertionResults.map(({ ancestorTitles, title, status }) => ({ name: [...ancestorTitles, title].join(STEP), status })),
    );
  }
  return rows.flatMap(({ id, references, reason }) => {
    if (reason !== undefined) return [];
    if (references.length === 0) return [`${id}: names no test and gives no reason`];
    return references.flatMap(({ file, name }) => {
      const named = (tests.get(file) ?? []).filter((test) => test.name === name || test.name.startsWith(name + STEP));
      if (named.length === 0) return [`${id}: ${file} has no test "${name}"`];
      const failed = named.filter(({ status }) => status !== "passed");
      return failed.map((test) => `${id}: ${file}, "${test.name}" is ${test.status}`);
    });
  });
}

/** @param {string} reportFile @returns {boolean} */
export function checkSecurityTable(reportFile) {
  const rows = rowsOf(readFileSync(path.join(root, "docs/security.md"), "utf8"));
  const mistakes = mistakesIn(rows, /** @type {Report} */ (readJson(reportFile)));
  for (const mistake of mistakes) console.error(mistake);
  const references = rows.flatMap((row) => row.references).length;
  const skipped = rows.filter(({ reason }) => reason !== undefined).length;
  console.log(
    `${String(rows.length)} rows, ${String(references)} references to tests, ${String(skipped)} that do not apply; ${String(mistakes.length)} wrong`,
  );
  return mistakes.length === 0 && rows.length > 0;
}
