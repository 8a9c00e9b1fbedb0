// The checks that come before the tests, in two lanes side by side. Each check prints its output
// when it ends, under its own headline.
import path from "node:path";
import { headline, output, root } from "./run.mjs";

/** @typedef {readonly [title: string, args: readonly string[]]} Check */

/** @param {string} file @param {readonly string[]} args @returns {readonly string[]} */
const program = (file, args) => [path.join(root, "node_modules", file), ...args];

// `npm ci` removes the cache.
const TYPES = [
  "-p",
  "tsconfig.json",
  "--incremental",
  "--tsBuildInfoFile",
  "node_modules/.cache/tsc/project.tsbuildinfo",
];

/**
 * Within a lane a check starts after the one before it passed. Format and lint take as long as the
 * others together.
 * @type {readonly (readonly Check[])[]}
 */
const LANES = [
  [
    ["Format: prettier --check", program("prettier/bin/prettier.cjs", ["--check", "."])],
    ["Lint: eslint", ["scripts/lint.mjs"]],
  ],
  [
    ["Imports: they point down only", ["scripts/check-imports.mjs"]],
    ["Types: tsc", program("typescript/bin/tsc", TYPES)],
    [
      "Types: the code for browsers",
      program("typescript/bin/tsc", ["-p", "src/client/tsconfig.json"]),
    ],
    [
      "Types: the tests of the code for browsers",
      program("typescript/bin/tsc", ["-p", "test/client/tsconfig.json"]),
    ],
    ["Build: dist/", ["scripts/build.mjs"]],
    ["Docs: the generated pages are up to date", ["scripts/docs.mjs", "--check"]],
  ],
];

/**
 * Runs the lanes side by side. A check that fails ends its lane; the other lane goes on.
 *
 * @param {readonly (readonly Check[])[]} lanes
 * @returns {Promise<number>} an exit code: 0 if each check passed
 */
export async function runChecks(lanes = LANES) {
  const codes = await Promise.all(lanes.map(runLane));
  return codes.find((code) => code !== 0) ?? 0;
}

/** @param {readonly Check[]} lane @returns {Promise<number>} */
async function runLane(lane) {
  for (const [title, args] of lane) {
    const began = performance.now();
    const { code, text } = await output(args);
    headline(`${title}, ${Math.round((performance.now() - began) / 1000)} s`);
    if (text !== "") console.log(text.trimEnd());
    if (code === 0) continue;
    console.error(`\nFailed: ${title}`);
    return code;
  }
  return 0;
}
