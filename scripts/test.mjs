// Every check of the project, in one command, cheapest first; stops at the first that fails.
// Arguments go to vitest: `npm test -- test/core` runs all checks and those tests.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { headline, node, readJson, tool } from "./run.mjs";

/** @type {readonly (readonly [headline: string, run: () => number])[]} */
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
];

// The last line of every run that came as far as the tests: how many there were.
let summary = "";

for (const [title, run] of steps) {
  headline(title);
  const code = run();
  if (code !== 0) {
    console.error(`\nFailed: ${title}`);
    process.exitCode = code;
    break;
  }
}
if (summary !== "") console.log(`\n${summary}`);

/** Runs the tests and counts them. */
function runTests() {
  const folder = mkdtempSync(path.join(tmpdir(), "idpauth-test-"));
  const report = path.join(folder, "report.json");
  try {
    const code = tool("vitest/vitest.mjs", [
      "run",
      "--coverage",
      "--reporter=default",
      "--reporter=json",
      `--outputFile.json=${report}`,
      ...process.argv.slice(2),
    ]);
    summary = count(report, code);
    return code;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {string} report vitest's JSON report
 * @param {number} code vitest's exit code
 */
function count(report, code) {
  if (!existsSync(report)) return "0 passed, 1 failed";
  const result = /** @type {{ numPassedTests: number, numFailedTests: number }} */ (readJson(report));
  // A file that could not even be loaded, or an error outside any test, fails the run without a failed test.
  const failed = Math.max(result.numFailedTests, code === 0 ? 0 : 1);
  return `${result.numPassedTests} passed, ${failed} failed`;
}
