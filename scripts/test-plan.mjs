// What each test command does, with and without arguments. scripts/test.mjs does it. The file name
// of a test says which command runs it:
//
// - `*.unit.test.ts`: rules. They open no socket and start no process, which
//   test/support/no-outside.ts enforces. `npm run test:unit`
// - `*.test.ts`: what guards the guarantees, with real servers, processes and a browser. `npm test`
//   runs these and the unit tests.
// - `*.matrix.test.ts`: every adapter, frameworks with dependencies of their own, recipes,
//   examples, load. `npm run test:matrix` runs all tests.
//
// `npm run test:adapter NAME` and `npm run test:store NAME` run the tests of one adapter or store,
// in whichever ring they are.
//
// .ci/run makes a folder, TEST_RESULTS, in which `npm test` leaves its results, so that
// `npm run test:matrix` runs only what is left, and judges both.
import { testsOf } from "./tests-of.mjs";

/** @typedef {"unit" | "main" | "matrix" | "adapter" | "store"} Command */
/**
 * @typedef {object} Plan
 * @property {boolean} types checks all types first
 * @property {boolean} build builds `dist/` and `build/` first; a test that reads them builds them
 *   by itself
 * @property {boolean} packageCheck what npm would publish
 * @property {boolean} recorder records everything that the run sent, logged and printed
 * @property {boolean} scan looks for secrets in what was recorded
 * @property {boolean} table each row of docs/evidence/security.json has a test that passed
 * @property {boolean} fuzz new inputs for the fuzzing tests, without the recorder
 * @property {Readonly<Record<string, string>>} env variables for the tests, unless they are set
 *   already
 * @property {readonly string[]} vitest arguments
 * @property {"main" | "matrix" | undefined} part the name of the results that the run leaves in
 *   TEST_RESULTS. What comes after "matrix" judges the results of both parts.
 */

/** New inputs for each of the ten fuzzing targets: as many as eight seconds allow. */
export const FUZZ = { FUZZ_RUNS: "10000000", FUZZ_SECONDS: "8" };

/** 3,000 schedules of the interleaving test. */
const LONG = { INTERLEAVINGS: "3000" };

/**
 * @param {Command} command
 * @param {readonly string[]} chosen arguments for vitest, such as a path: only these tests run, and
 *   nothing that judges a whole run. The first argument of `adapter` and `store` is a name.
 * @param {"none" | "empty" | "has main"} [results] what is in the folder TEST_RESULTS
 * @returns {Plan}
 * @throws Error no adapter or store has that name
 */
export function planOf(command, chosen, results = "none") {
  const isWhole = chosen.length === 0;
  const isMatrix = command === "matrix";
  const part = isWhole ? partOf(command, results) : undefined;
  // `npm run test:matrix` doesn't repeat what `npm test` leaves it, so that ran as it would have.
  const isThorough = isMatrix || part !== undefined;
  return {
    types: isWhole && command === "main",
    build: isWhole && isMatrix,
    packageCheck: isWhole && isMatrix,
    recorder: isThorough,
    scan: isMatrix,
    fuzz: isWhole && isMatrix,
    // Over all rings, so that one report has every test that a row names.
    table: isWhole && isMatrix,
    env: isThorough ? LONG : {},
    vitest: ["run", ...(part === "matrix" ? ["--project=matrix"] : testsFor(command, chosen))],
    part,
  };
}

/** @param {readonly string[]} titles of the skipped tests @returns {readonly string[]} lines */
export function linesOfSkipped(titles) {
  const first = titles.slice(0, 5).map((title) => `  ${title}`);
  return titles.length === 0 ? [] : [`${titles.length} skipped`, ...first];
}

/**
 * @param {Command} command
 * @param {"none" | "empty" | "has main"} results
 */
function partOf(command, results) {
  if (command === "main" && results !== "none") return "main";
  return command === "matrix" && results === "has main" ? "matrix" : undefined;
}

/**
 * @param {Command} command
 * @param {readonly string[]} chosen
 * @returns {readonly string[]} arguments for vitest
 */
function testsFor(command, chosen) {
  if (command === "unit") return ["--project=unit", ...chosen];
  // A path is found in whichever ring it is.
  if (command === "main")
    return chosen.length === 0
      ? ["--project=unit", "--project=main", "--project=main-isolated"]
      : chosen;
  if (command === "matrix") return chosen;
  const [name = "", ...options] = chosen;
  return [...testsOf(command, name), ...options];
}
