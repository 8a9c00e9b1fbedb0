// `npm run check`: what a machine can say of a change without running it, in two lanes side by side.
// Each check prints its output when it ends, under its own headline.
import path from "node:path";
import { headline, output, root } from "./run.mjs";

/** @typedef {readonly [title: string, args: readonly string[]]} Check */

/**
 * Within a lane a check starts after the one before it passed. The lint takes as long as the others
 * together.
 * @type {readonly (readonly Check[])[]}
 */
const LANES = [
  [["Lint: eslint", ["scripts/lint.mjs"]]],
  [
    ["Imports: they point down only", ["scripts/check-imports.mjs"]],
    ["Build: dist/", ["scripts/build.mjs"]],
    ["Docs: the generated pages are up to date", ["scripts/docs.mjs", "--check"]],
    [
      "Format: prettier",
      [path.join(root, "node_modules/prettier/bin/prettier.cjs"), "--check", "."],
    ],
  ],
];

// A check that fails ends its lane; the other lane goes on.
const codes = await Promise.all(LANES.map(runLane));
process.exitCode = codes.find((code) => code !== 0) ?? 0;

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
