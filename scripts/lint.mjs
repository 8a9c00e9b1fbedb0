// Runs ESLint on all files: `node scripts/lint.mjs`. Its cache, which `npm ci` removes, doesn't see
// that a type changed in another file; a run after `npm ci` does.
import { existsSync } from "node:fs";
import path from "node:path";
import { root, tool } from "./run.mjs";

const cache = "node_modules/.cache/eslint/";
// Each worker reads all types, which takes longer than linting the few files that the cache lacks.
const workers = existsSync(path.join(root, cache)) ? "off" : "2";

process.exitCode = tool("eslint/bin/eslint.js", [
  ".",
  "--cache",
  "--cache-strategy=content",
  `--cache-location=${cache}`,
  `--concurrency=${workers}`,
]);
