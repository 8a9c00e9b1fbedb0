// What `npm run test:unit`, `npm test` and `npm run test:matrix` do, with and without arguments. scripts/test.mjs does it.
import { READS_BUILD } from "./test-rings.mjs";

/** @typedef {"unit" | "main" | "matrix"} Command */
/**
 * @typedef {object} Plan
 * @property {boolean} checks format, lint, types, imports, build, generated docs
 * @property {boolean} build whether `dist/` and `build/` must be up to date
 * @property {boolean} packageCheck what npm would publish
 * @property {boolean} recorder looks for secrets in everything that the run sent, logged and printed
 * @property {boolean} table each row of docs/evidence/security.md has a test that passed
 * @property {boolean} fuzz new inputs for the fuzzing tests, without recorder and coverage
 * @property {Readonly<Record<string, string>>} env variables for the tests, unless they are set already
 * @property {readonly string[]} vitest arguments
 */

/** New inputs for each of the nine fuzzing targets: as many as eight seconds allow. Two targets at a time. */
export const FUZZ = { FUZZ_RUNS: "10000000", FUZZ_SECONDS: "8", TEST_WORKERS: "2" };

/** 3,000 schedules of the interleaving test. One test file at a time: coverage and the recorder take the other core. */
const LONG = { INTERLEAVINGS: "3000", TEST_WORKERS: "1" };

/**
 * @param {Command} command
 * @param {readonly string[]} chosen arguments for vitest, such as a path: only these tests run, and nothing that judges a whole run
 * @returns {Plan}
 */
export function planOf(command, chosen) {
  const isWhole = chosen.length === 0;
  const isMatrix = command === "matrix";
  return {
    checks: isWhole && command === "main",
    build: command !== "unit" && (isWhole || readsBuild(chosen)),
    packageCheck: isWhole && isMatrix,
    recorder: isMatrix,
    fuzz: isWhole && isMatrix,
    // Over all rings, so that one report has every test that a row names.
    table: isWhole && isMatrix,
    env: isMatrix ? LONG : {},
    vitest: ["run", ...ringsOf(command, isWhole), ...(isMatrix ? ["--coverage"] : []), ...chosen],
  };
}

/**
 * @param {Command} command
 * @param {boolean} isWhole
 * @returns {readonly string[]} none: a path is found in whichever ring it is
 */
function ringsOf(command, isWhole) {
  if (command === "unit") return ["--project=unit"];
  return command === "main" && isWhole ? ["--project=unit", "--project=main"] : [];
}

/**
 * Vitest runs each file whose path contains an argument.
 *
 * @param {readonly string[]} chosen
 */
function readsBuild(chosen) {
  const paths = chosen.filter((argument) => !argument.startsWith("-")).map((argument) => argument.replace(/^\.\/|:\d+$/g, ""));
  return paths.length === 0 || paths.some((part) => READS_BUILD.some((entry) => entry.includes(part) || part.startsWith(entry)));
}
