// Holds the tables in docs/evidence/security.md to the run of the tests: each test that a row names was run and passed. Called by
// `npm run test:matrix` with vitest's JSON report of all tests.
import { readFileSync } from "node:fs";
import path from "node:path";
import { readJson, root } from "./run.mjs";

/** Between a file and a test, and between a describe and what is in it. */
const STEP = " › ";

/** At the end of a reference: every test whose name begins so. */
const ELLIPSIS = "…";

const HEAD = "| Id | Demanded | Shown by |";

/** @typedef {{ readonly id: string, readonly file: string, readonly name: string }} Reference */
/**
 * @typedef {{ readonly id: string, readonly references: readonly Reference[], readonly reason: string | undefined, readonly unread: readonly string[] }} Row
 *   `unread`: what looks like a reference, or a row, and cannot be read
 */
/** @typedef {{ readonly testResults: readonly { readonly name: string, readonly assertionResults: readonly Assertion[] }[] }} Report */
/** @typedef {{ readonly ancestorTitles: readonly string[], readonly title: string, readonly status: string }} Assertion */

/**
 * The rows of every table under {@link HEAD}.
 *
 * @param {string} markdown
 * @returns {Row[]}
 */
export function rowsOf(markdown) {
  let isInTable = false;
  return markdown.split("\n").flatMap((line) => {
    // Other tables have other heads.
    isInTable = line === HEAD || (isInTable && /^\s*\|/.test(line));
    if (!isInTable || line === HEAD || /^[\s|:-]+$/.test(line)) return [];
    const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
    const [, id = "", , proof = ""] = cells;
    // A bar too many cuts a name short.
    if (cells.length !== 5) return [{ id, references: [], reason: undefined, unread: [line] }];
    const reason = /^n\/a: (.+)$/.exec(proof)?.[1];
    /** @type {Reference[]} */
    const references = [];
    /** @type {string[]} */
    const unread = [];
    for (const part of proof.split("<br>").map((text) => text.trim())) {
      const found = /^`([^`]+\.test\.ts)` › (.+)$/.exec(part);
      if (found !== null) references.push({ id, file: found[1] ?? "", name: found[2] ?? "" });
      else if (part.includes("` › ")) unread.push(part);
    }
    return [{ id, references, reason, unread }];
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
  return rows.flatMap(({ id, references, reason, unread }) => {
    if (reason !== undefined) return [];
    if (unread.length > 0) return unread.map((part) => `${id}: cannot be read: ${part}`);
    if (references.length === 0) return [`${id}: names no test and gives no reason`];
    return references.flatMap(({ file, name }) => {
      const begin = name.endsWith(ELLIPSIS) ? name.slice(0, -ELLIPSIS.length) : name + STEP;
      const named = (tests.get(file) ?? []).filter((test) => test.name === name || test.name.startsWith(begin));
      if (named.length === 0) return [`${id}: ${file} has no test "${name}"`];
      // Of a group, some may be for longer runs only; one that was left out altogether shows nothing.
      const hasPassed = named.some(({ status }) => status === "passed");
      const failed = named.filter(({ status }) => status !== "passed" && !(hasPassed && status === "skipped"));
      return failed.map((test) => `${id}: ${file}, "${test.name}" is ${test.status}`);
    });
  });
}

/** @param {string} reportFile @returns {boolean} */
export function checkSecurityTable(reportFile) {
  const rows = rowsOf(readFileSync(path.join(root, "docs/evidence/security.md"), "utf8"));
  const mistakes = mistakesIn(rows, /** @type {Report} */ (readJson(reportFile)));
  for (const mistake of mistakes) console.error(mistake);
  const references = rows.flatMap((row) => row.references).length;
  const skipped = rows.filter(({ reason }) => reason !== undefined).length;
  console.log(
    `${String(rows.length)} rows, ${String(references)} references to tests, ${String(skipped)} that do not apply; ${String(mistakes.length)} wrong`,
  );
  return mistakes.length === 0 && rows.length > 0;
}
