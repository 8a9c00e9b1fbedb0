// Every check of the project, in one command, cheapest first; stops at the first that fails.
// Arguments go to vitest: `npm test -- test/core` runs all checks and those tests.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { headline, node, readJson, root, tool } from "./run.mjs";
import { formatScan, scan } from "./secret-scan.mjs";
import { checkSecurityTable } from "./security-table.mjs";

const chosen = process.argv.slice(2);
const folder = mkdtempSync(path.join(tmpdir(), "idpauth-test-"));
const report = path.join(folder, "report.json");
const record = path.join(folder, "record");

/** @type {readonly (readonly [headline: string, run: () => number | Promise<number>])[]} */
const steps = [
  ["Format: prettier --check", () => tool("prettier/bin/prettier.cjs", ["--check", "."])],
  ["Lint: eslint", () => tool("eslint/bin/eslint.js", ["."])],
  ["Types: tsc", () => tool("typescript/bin/tsc", ["-p", "tsconfig.json"])],
  ["Imports: they point down only", () => node(["scripts/check-imports.mjs"])],
  ["Build: dist/", () => node(["scripts/build.mjs"])],
  ["Docs: the generated pages are up to date", () => node(["scripts/docs.mjs", "--check"])],
  ["Package: what would be published", () => node(["scripts/check-package.mjs"])],
  ["Build: demo/dist/", () => node(["scripts/build-demo.mjs"])],
  ["Tests: vitest with coverage", runTests],
  ["Secrets: none in what was sent to browsers, logged, told and printed", findSecrets],
  // A run of some tests says nothing about the others.
  ...(chosen.length > 0 ? [] : [/** @type {const} */ (["Security: every test that docs/security.md names ran and passed", checkTable])]),
];

// The last line of every run that came as far as the tests: how many there were.
let summary = "";

try {
  for (const [title, run] of steps) {
    headline(title);
    const code = await run();
    if (code !== 0) {
      console.error(`\nFailed: ${title}`);
      process.exitCode ||= code;
      // What the run left can be looked at all the same.
      if (run !== runTests) break;
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (summary !== "") console.log(`\n${summary}`);

/** Runs the tests and counts them; every process of the run writes down what the scan for secrets looks at. */
function runTests() {
  mkdirSync(record);
  const hook = pathToFileURL(path.join(root, "test/secret-scan/record.mjs")).href;
  process.env["SECRET_SCAN_FOLDER"] = record;
  process.env["NODE_OPTIONS"] = `${process.env["NODE_OPTIONS"] ?? ""} --import=${hook}`.trim();
  const code = tool("vitest/vitest.mjs", [
    "run",
    "--coverage",
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${report}`,
    ...chosen,
  ]);
  delete process.env["SECRET_SCAN_FOLDER"];
  summary = count(code);
  return code;
}

/** @returns {Promise<number>} */
async function findSecrets() {
  const result = await scan(record);
  console.log(formatScan(result));
  // Who knows no secret finds none.
  const hasLooked = (Object.keys(result.looked).length > 0 && Object.keys(result.secrets).length > 0) || chosen.length > 0;
  return result.leaks.length === 0 && hasLooked ? 0 : 1;
}

/** @returns {number} */
function checkTable() {
  return checkSecurityTable(report) ? 0 : 1;
}

/** @param {number} code vitest's exit code */
function count(code) {
  if (!existsSync(report)) return "0 passed, 1 failed";
  const result = /** @type {{ numPassedTests: number, numFailedTests: number }} */ (readJson(report));
  // A file that could not even be loaded, or an error outside any test, fails the run without a failed test.
  const failed = Math.max(result.numFailedTests, code === 0 ? 0 : 1);
  return `${result.numPassedTests} passed, ${failed} failed`;
}
