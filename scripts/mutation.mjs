// Mutation testing of the files that decide, one after another, each with its own report in
// reports/mutation/.
//   npm run mutation                            every file, then docs/evidence/mutation.md
//   npm run mutation -- src/http/redirects.ts   one file
//   npm run mutation -- --survivors [files]     only what survived or timed out last time
//   npm run mutation -- --report                only docs/evidence/mutation.md, from the reports
// Everything else stands in stryker.config.json, the tests in vitest.mutation.config.ts.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { needPackages } from "./framework-install.mjs";
import { DECIDING_FILES, readReport, reportPath, writeReport } from "./mutation-report.mjs";
import { headline, root } from "./run.mjs";

/** @typedef {import("./mutation-report.mjs").Mutant} Mutant */

const named = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const files = named.length > 0 ? named : Object.keys(DECIDING_FILES);
const unknown = files.find((file) => !Object.hasOwn(DECIDING_FILES, file));
if (unknown !== undefined) {
  console.error(
    `${unknown} has no tests in DECIDING_FILES (scripts/mutation-report.mjs). There are ${Object.keys(DECIDING_FILES).join(", ")}.`,
  );
  process.exit(2);
}
for (const file of process.argv.includes("--report") ? [] : files) {
  headline(file);
  // Read by vitest.mutation.config.ts, in the processes that Stryker starts.
  process.env["MUTATION_TESTS"] = DECIDING_FILES[file]?.join(" ");
  if (process.argv.includes("--survivors")) await testSurvivors(file);
  else await test([file], reportPath(file));
}
process.exitCode = writeReport();

/**
 * Stryker, installed for this command alone. Its plugin runs the project's own vitest, so npm must
 * not install another one for it.
 *
 * @returns {Promise<{ Stryker: new (options: object) => { runMutationTest(): Promise<unknown> } }>}
 */
async function loadStryker() {
  const modules = await needPackages("scripts/mutation", {
    ...process.env,
    npm_config_legacy_peer_deps: "true",
  });
  return import(pathToFileURL(path.join(modules, "@stryker-mutator/core/dist/src/index.js")).href);
}

/**
 * @param {readonly string[]} mutate
 * @param {string} fileName of the report
 */
async function test(mutate, fileName) {
  mkdirSync(path.dirname(fileName), { recursive: true });
  const { Stryker } = await loadStryker();
  await new Stryker({ mutate: [...mutate], jsonReporter: { fileName } }).runMutationTest();
}

/**
 * Runs the mutants that may be alive again and puts the outcome into the file's report. A file that
 * was changed since is done anew as a whole.
 *
 * @param {string} file
 */
async function testSurvivors(file) {
  const report = existsSync(reportPath(file)) ? readReport(file) : undefined;
  if (
    report === undefined ||
    report.files[file]?.source !== readFileSync(path.join(root, file), "utf8")
  )
    return test([file], reportPath(file));
  const { mutants } = report.files[file];
  const ranges = mutants
    .filter(isInDoubt)
    .map(
      ({ location: { start, end } }) =>
        `${file}:${start.line}:${start.column - 1}-${end.line}:${end.column - 1}`,
    );
  if (ranges.length === 0) return;
  const partPath = reportPath(file).replace(/\.json$/, ".part.json");
  await test([...new Set(ranges)], partPath);
  const part =
    /** @type {typeof report} */ (JSON.parse(readFileSync(partPath, "utf8"))).files[file]
      ?.mutants ?? [];
  const outcomes = new Map(part.map((mutant) => [identityOf(mutant), mutant]));
  for (const mutant of mutants) {
    const outcome = outcomes.get(identityOf(mutant));
    if (outcome !== undefined && isInDoubt(mutant))
      Object.assign(mutant, { statusReason: undefined }, outcome);
  }
  writeFileSync(reportPath(file), JSON.stringify(report));
}

/**
 * Whether a mutant may be alive: no test has failed for it, and it did not run in circles. Where
 * only time ran out, of the run or of a test, it may have been the machine's.
 *
 * @param {Mutant} mutant
 */
function isInDoubt({ status, statusReason = "" }) {
  if (status === "Killed") return statusReason.includes("timed out in");
  return !statusReason.startsWith("Hit limit");
}

/** @param {Mutant} mutant */
function identityOf({ mutatorName, replacement, location }) {
  return JSON.stringify([mutatorName, replacement, location]);
}
