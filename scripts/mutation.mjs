// Mutation testing of the files that decide, two at a time and at a low priority. Each result is
// written to docs/evidence/mutation.json at once, so that a run can be stopped, and what they add up
// to goes to docs/about/evidence.md at the end.
//   npm run mutation                            every file; not again what has already been run
//                                               since src/ and test/ last changed
//   npm run mutation -- --changed               the files whose code has changed since their run
//   npm run mutation -- src/http/redirects.ts   one file
// Everything else stands in scripts/mutation/stryker.config.mjs, the tests in vitest.mutation.config.ts.
import { spawn, spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { constants, setPriority } from "node:os";
import path from "node:path";
import { commitNow } from "./evidence/commits.mjs";
import { withFigures } from "./evidence/page.mjs";
import { needPackages } from "./framework-install.mjs";
import { packageProgram } from "./locked-packages.mjs";
import { DECIDING_FILES, readRuns, recordRun } from "./mutation-report.mjs";
import { headline, readJson, root } from "./run.mjs";

/** @typedef {import("./mutation-report.mjs").Tested} Tested */

/** Files at a time: each has a Stryker of its own, whose tests run in one process. */
const AT_ONCE = 2;

/** About the seconds of a file's start, of a mutant with unit tests, with a server, and in a circle. */
const [START_SECONDS, UNIT_SECONDS, SERVER_SECONDS, TIMEOUT_SECONDS] = [6, 0.2, 2, 13];

/** For a file that was never run. */
const USUAL_MUTANTS = 150;

const CODE = ["src", "packages", "test"];
const REPORTS = path.join(root, "reports/mutation");

const before = readRuns();
const files = chosenFiles(process.argv.slice(2));
/** The dearest first, so that none is left alone at the end. */
const queue = files.toSorted((one, other) => secondsOf(other) - secondsOf(one));
const began = Date.now();
let [finished, secondsDone] = [0, 0];
/** One run is recorded after the other. */
let recorded = Promise.resolve();
const secondsInAll = files.reduce((sum, file) => sum + secondsOf(file), 0);
/** @type {Set<number | undefined>} the groups of Stryker's processes */
const running = new Set();
for (const signal of ["SIGINT", "SIGTERM"])
  process.once(signal, () => {
    for (const pid of running) if (pid !== undefined) process.kill(-pid, "SIGKILL");
    process.exit(1);
  });

setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
headline(`Mutation: ${files.length} files, ${AT_ONCE} at a time; stop it with Ctrl+C at any time`);
// Stryker's plugin runs the project's own vitest, so npm must not install another one for it.
const tools = await needPackages("scripts/mutation", {
  ...process.env,
  npm_config_legacy_peer_deps: "true",
});
mkdirSync(REPORTS, { recursive: true });
// What a run that was stopped has left.
rmSync(path.join(root, ".stryker-tmp"), { recursive: true, force: true });
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) await test(file);
  }),
);
const page = path.join(root, "docs/about/evidence.md");
writeFileSync(page, withFigures(readFileSync(page, "utf8")));

/** @param {readonly string[]} args */
function chosenFiles(args) {
  if (args.includes("--changed"))
    return Object.keys(DECIDING_FILES).filter((file) => differs(file, [file]));
  const unknown = args.filter((file) => !Object.hasOwn(DECIDING_FILES, file));
  if (unknown.length > 0)
    throw new Error(`Not in DECIDING_FILES (scripts/mutation-report.mjs): ${unknown.join(", ")}`);
  return args.length > 0 ? args : Object.keys(DECIDING_FILES).filter((file) => differs(file, CODE));
}

/**
 * Whether one of these paths is another than at the last run of a file.
 *
 * @param {string} file
 * @param {readonly string[]} paths
 */
function differs(file, paths) {
  const commit = before[file]?.commit ?? "";
  // A file without a run, and a run of changes that no commit has, have no such revision.
  return spawnSync("git", ["diff", "--quiet", commit, "--", ...paths], { cwd: root }).status !== 0;
}

/** @param {string} file */
function secondsOf(file) {
  const { mutants, timedOut } = before[file] ?? { mutants: USUAL_MUTANTS, timedOut: 0 };
  const isFast = DECIDING_FILES[file]?.every((name) => name.endsWith(".unit.test.ts"));
  const each = isFast ? UNIT_SECONDS : SERVER_SECONDS;
  return START_SECONDS + mutants * each + timedOut * TIMEOUT_SECONDS;
}

/** @param {string} file */
async function test(file) {
  const report = path.join(REPORTS, `${file.replace(/^src\//, "").replaceAll("/", "-")}.json`);
  const log = report.replace(/json$/, "log");
  const run = { date: new Date().toISOString().slice(0, 10), commit: commitNow(CODE) };
  const isRun = await stryker(log, {
    MUTATION_FILE: file,
    MUTATION_TESTS: DECIDING_FILES[file]?.join(" "),
    MUTATION_REPORT: report,
  });
  if (isRun) {
    recorded = recorded.then(() => recordRun(file, testedIn(report, file), run));
    await recorded;
  } else {
    console.error(`Stryker didn't finish with ${file}, see ${log}`);
    process.exitCode = 1;
  }
  finished += 1;
  secondsDone += secondsOf(file);
  const minutes = ((Date.now() - began) / 60_000) * (secondsInAll / secondsDone - 1);
  console.log(`${finished} of ${files.length}, ${Math.ceil(minutes)} min left: ${file}`);
}

/**
 * @param {string} report
 * @param {string} file
 */
function testedIn(report, file) {
  const { files } = /** @type {{ files: Record<string, Tested> }} */ (readJson(report));
  return /** @type {Tested} */ (files[file]);
}

/**
 * @param {string} log where its output goes
 * @param {Record<string, string | undefined>} env
 * @returns {Promise<boolean>} whether it came to the end
 */
function stryker(log, env) {
  const output = openSync(log, "w");
  const program = packageProgram(tools, "@stryker-mutator/core");
  const child = spawn(
    process.execPath,
    [program, "run", path.join(root, "scripts/mutation/stryker.config.mjs")],
    {
      cwd: root,
      env: { ...process.env, ...env },
      detached: true,
      stdio: ["ignore", output, output],
    },
  );
  closeSync(output);
  running.add(child.pid);
  return new Promise((resolve, reject) => {
    child.on("error", reject).on("close", (code) => {
      running.delete(child.pid);
      resolve(code === 0);
    });
  });
}
