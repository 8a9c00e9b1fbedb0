// Checks the rows of docs/evidence/security.json against a run of the tests. The name of a test
// holds the ids of the rows that the test shows, in square brackets, such as `[BCP-3]`. Called by
// `npm run test:matrix` with vitest's JSON report.
import { readEvidence } from "./evidence/files.mjs";
import { readJson } from "./run.mjs";

/** Ids of rows: `R11`, `BCP-3`, `ASVS-7.2.4`. */
const ID = String.raw`[A-Z]+-?\d+(?:\.\d+)*`;

/** @typedef {{ readonly id: string, readonly requirement: string }} Row */
/**
 * @typedef {{ readonly testResults: readonly { readonly name: string, readonly assertionResults: readonly Assertion[] }[] }} Report
 */
/**
 * @typedef {{ readonly ancestorTitles: readonly string[], readonly title: string, readonly status: string }} Assertion
 */

/** @returns {Row[]} the rows of all sections */
export function readRows() {
  return readEvidence("security").sections.flatMap(
    (/** @type {{ rows: Row[] }} */ section) => section.rows,
  );
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
    if (requirement === "") return [`${id}: says nothing`];
    if (!shown.has(id)) return [`${id}: no test has this id`];
    return shown.get(id) === true ? [] : [`${id}: no test with this id passed`];
  });
  const unknown = [...shown.keys()].filter((id) => !rows.some((row) => row.id === id));
  return [...mistakes, ...unknown.map((id) => `${id}: a test has this id, the table has not`)];
}

/** @param {string} reportFile @returns {boolean} */
export function checkSecurityTable(reportFile) {
  const rows = readRows();
  const mistakes = mistakesIn(rows, /** @type {Report} */ (readJson(reportFile)));
  for (const mistake of mistakes) console.error(mistake);
  console.log(`${rows.length} rows, ${mistakes.length} mistakes`);
  return mistakes.length === 0 && rows.length > 0;
}
