// Runs a test command: `node scripts/test.mjs unit|main|matrix [ARGUMENTS FOR VITEST]` or
// `node scripts/test.mjs adapter|store NAME`. scripts/test-plan.mjs says what each one does.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { headline, node, printNode, readJson, root, tool } from "./run.mjs";
import { formatScan, scan } from "./secret-scan.mjs";
import { checkSecurityTable } from "./security-table.mjs";
import { FUZZ, linesOfSkipped, planOf } from "./test-plan.mjs";

/** @typedef {{ status: string, fullName: string, failureMessages: string[] }} TestResult */
/**
 * @typedef {{ numPassedTests: number, numFailedTests: number, testResults: { name: string, assertionResults: TestResult[] }[] }} Report
 */

const [command = "", ...chosen] = process.argv.slice(2);
if (!isCommand(command)) throw new Error(`No such test command: "${command}"`);
/** The folder in which `npm test` leaves its results for `npm run test:matrix`. */
const results = process.env["TEST_RESULTS"] ?? "";
// A test command that a test starts has results of its own.
delete process.env["TEST_RESULTS"];
const blobs = path.join(results, "blobs");
const plan = planOrExit(command);
printNode();
const folder = mkdtempSync(path.join(tmpdir(), "idpauth-test-"));
const report = path.join(folder, "report.json");
const record = path.join(plan.part === undefined ? folder : results, "record");

/** The last lines of each run that starts the tests: how many were skipped, passed and failed. */
let summary = "";

/**
 * Each step gives an exit code.
 * @type {(readonly [title: string, run: () => number | Promise<number>])[]}
 */
const steps = [];
if (plan.types) steps.push(["Types: tsc", () => node(["scripts/types.mjs"])]);
if (plan.build) steps.push(["Build: dist/", () => node(["scripts/build.mjs"])]);
if (plan.packageCheck)
  steps.push(["Package: what would be published", () => node(["scripts/check-package.mjs"])]);
steps.push(["Tests", runTests]);
if (plan.fuzz) steps.push(["Fuzzing: new inputs", fuzzNewInputs]);
if (plan.scan)
  steps.push(["Secrets: none in what was sent to browsers, logged and printed", findSecrets]);
if (plan.table)
  steps.push([
    "Security: each row of docs/evidence/security.json has a test that passed",
    checkTable,
  ]);

try {
  for (const [title, run] of steps) {
    if (steps.length > 1) headline(title);
    const code = await run();
    if (code === 0) continue;
    console.error(`\nFailed: ${title}`);
    process.exitCode ||= code;
    // The steps after the tests check what the run left.
    if (run !== runTests && run !== fuzzNewInputs) break;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (summary !== "") console.log(`\n${summary}`);

/** @param {import("./test-plan.mjs").Command} known */
function planOrExit(known) {
  try {
    const hasMain = existsSync(path.join(blobs, "main.json"));
    return planOf(known, chosen, results === "" ? "none" : hasMain ? "has main" : "empty");
  } catch (error) {
    // Such as an unknown name.
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}

/** @param {string} word @returns {word is import("./test-plan.mjs").Command} */
function isCommand(word) {
  return ["unit", "main", "matrix", "adapter", "store"].includes(word);
}

/**
 * Runs the tests and counts them. If the plan has the recorder, each process of the run writes what
 * the scan for secrets reads.
 */
function runTests() {
  for (const [name, value] of Object.entries(plan.env)) process.env[name] ??= value;
  if (plan.recorder) {
    mkdirSync(record, { recursive: true });
    const hook = pathToFileURL(path.join(root, "test/secret-scan/record.mjs")).href;
    process.env["SECRET_SCAN_FOLDER"] = record;
    process.env["NODE_OPTIONS"] = `${process.env["NODE_OPTIONS"] ?? ""} --import=${hook}`.trim();
  }
  const json = ["--reporter=json", `--outputFile.json=${report}`];
  const blob = ["--reporter=blob", `--outputFile.blob=${path.join(blobs, `${plan.part}.json`)}`];
  const code = tool("vitest/vitest.mjs", [
    ...plan.vitest,
    "--reporter=default",
    ...json,
    ...(plan.part === undefined ? [] : blob),
  ]);
  delete process.env["SECRET_SCAN_FOLDER"];
  // The report that the steps after this one read has the tests of both parts.
  const merged =
    plan.part === "matrix" ? tool("vitest/vitest.mjs", [`--merge-reports=${blobs}`, ...json]) : 0;
  summary = count(code || merged);
  return code || merged;
}

/**
 * Tries new inputs, from other seeds in each run. A failure prints the input to keep.
 */
function fuzzNewInputs() {
  Object.assign(process.env, FUZZ);
  return tool("vitest/vitest.mjs", ["run", "test/fuzz", "-t", "new inputs"]);
}

/** @returns {Promise<number>} */
async function findSecrets() {
  const result = await scan(record);
  console.log(formatScan(result));
  // A scan that knows no secret finds none.
  const hasLooked =
    (Object.keys(result.looked).length > 0 && Object.keys(result.secrets).length > 0) ||
    chosen.length > 0;
  return result.leaks.length === 0 && hasLooked ? 0 : 1;
}

/** @returns {number} */
function checkTable() {
  // Without a report vitest did not start, which has failed the run already.
  return existsSync(report) && checkSecurityTable(report) ? 0 : 1;
}

/** @param {number} code vitest's exit code */
function count(code) {
  if (!existsSync(report)) return "0 passed, 1 failed";
  const result = /** @type {Report} */ (readJson(report));
  // A file that could not even be loaded, or an error outside any test, fails the run without a
  // failed test.
  const failed = Math.max(result.numFailedTests, code === 0 ? 0 : 1);
  const last = `${result.numPassedTests} passed, ${failed} failed`;
  return [...secondTries(result), ...skips(result), last].join("\n");
}

/** @param {Report} report */
function skips({ testResults }) {
  // Vitest also calls the tests skipped that `-t` leaves out.
  if (chosen.some((argument) => /^(?:-t|--testNamePattern)/.test(argument))) return [];
  const tests = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map((test) => ({ ...test, file: path.relative(root, name) })),
  );
  const skipped = tests.filter(({ status }) => status === "skipped");
  return linesOfSkipped(skipped.map(({ file, fullName }) => `${file}: ${fullName}`));
}

/**
 * Returns a line for each test that failed and then passed (`retry` in vitest.config.ts).
 *
 * @param {Report} report
 */
function secondTries({ testResults }) {
  const tests = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map((test) => ({ ...test, file: path.relative(root, name) })),
  );
  return tests
    .filter(({ status, failureMessages }) => status === "passed" && failureMessages.length > 0)
    .map(
      ({ file, fullName, failureMessages }) =>
        `Passed at the second try: ${file}: ${fullName}: ${failureMessages[0]?.split("\n")[0]}`,
    );
}
