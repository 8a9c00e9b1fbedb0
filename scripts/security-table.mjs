// Checks the tables of docs/evidence/security.md against a run of the tests. The name of a test
// holds the ids of the rows that the test shows, in square brackets, such as `[BCP-3]`. Called by
// `npm run test:matrix` with vitest's JSON report.
import { readFileSync } from "node:fs";
import path from "node:path";
import { readJson, root } from "./run.mjs";

const HEAD = "| Id | Requirement |";

/** A row that does not apply begins with this. It needs no test. */
const EXEMPT = "n/a: ";

/**
 * Ids of rows: `R11`, `BCP-3`, `ASVS-7.2.4`, or a module of the OpenID Foundation's conformance
 * suite.
 */
export const ID = String.raw`[A-Z]+-?\d+(?:\.\d+)*|(?:oidcc|fapi2)-[\w-]+`;

/** @typedef {{ readonly id: string, readonly requirement: string }} Row */
/**
 * @typedef {{ readonly testResults: readonly { readonly name: string, readonly assertionResults: readonly Assertion[] }[] }} Report
 */
/**
 * @typedef {{ readonly ancestorTitles: readonly string[], readonly title: string, readonly status: string }} Assertion
 */

/**
 * @param {string} markdown
 * @returns {Row[]} the rows of every table under {@link HEAD}
 */
export function rowsOf(markdown) {
  let isInTable = false;
  return markdown.split("\n").flatMap((line) => {
    // Other tables have other heads.
    isInTable = line === HEAD || (isInTable && /^\s*\|/.test(line));
    if (!isInTable || line === HEAD || /^[\s|:-]+$/.test(line)) return [];
    const [, id = "", ...rest] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    return [{ id, requirement: rest.join("|").replace(/\|$/, "") }];
  });
}

/**
 * @param {string} name
 * @returns {string[]}
 */
export function idsIn(name) {
  return [...name.matchAll(new RegExp(String.raw`\[(${ID})\]`, "g"))].map(([, id = ""]) => id);
}

/**
 * @param {readonly Row[]} rows
 * @param {Report} report
 * @returns {string[]} one line for each malformed row, each row without a passed test, and each id
 *   in a test's name that has no row
 */
export function mistakesIn(rows, report) {
  /** @type {Map<string, boolean>} whether a test with the id passed */
  const shown = new Map();
  for (const { ancestorTitles, title, status } of report.testResults.flatMap(
    ({ assertionResults }) => assertionResults,
  )) {
    for (const id of idsIn([...ancestorTitles, title].join(" ")))
      shown.set(id, shown.get(id) === true || status === "passed");
  }
  const mistakes = rows.flatMap(({ id, requirement }, at) => {
    if (!new RegExp(`^(?:${ID})$`).test(id)) return [`${id}: is not an id`];
    if (rows.findIndex((row) => row.id === id) !== at) return [`${id}: has two rows`];
    if (requirement === "" || requirement === EXEMPT.trim()) return [`${id}: says nothing`];
    if (requirement.startsWith(EXEMPT))
      return shown.has(id) ? [`${id}: does not apply, but a test has its id`] : [];
    if (!shown.has(id)) return [`${id}: no test has this id`];
    return shown.get(id) === true ? [] : [`${id}: no test with this id passed`];
  });
  const unknown = [...shown.keys()].filter((id) => !rows.some((row) => row.id === id));
  return [...mistakes, ...unknown.map((id) => `${id}: a test has this id, the table has not`)];
}

/** @param {string} reportFile @returns {boolean} */
export function checkSecurityTable(reportFile) {
  const rows = rowsOf(readFileSync(path.join(root, "docs/evidence/security.md"), "utf8"));
  const mistakes = mistakesIn(rows, /** @type {Report} */ (readJson(reportFile)));
  for (const mistake of mistakes) console.error(mistake);
  const exempt = rows.filter(({ requirement }) => requirement.startsWith(EXEMPT)).length;
  console.log(
    `${String(rows.length)} rows, ${String(exempt)} of them do not apply; ${String(mistakes.length)} mistakes`,
  );
  return mistakes.length === 0 && rows.length > 0;
}
