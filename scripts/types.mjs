// `npm run types`: the type check of the project, of the code for browsers, and of its tests.
import { tool } from "./run.mjs";

const CACHE = "node_modules/.cache/tsc/project.tsbuildinfo"; // `npm ci` removes it
const PROJECTS = [
  ["-p", "tsconfig.json", "--incremental", "--tsBuildInfoFile", CACHE],
  ["-p", "src/client/tsconfig.json"],
  ["-p", "test/client/tsconfig.json"],
  ["-p", "test/react/tsconfig.json"],
];

for (const project of PROJECTS) process.exitCode ||= tool("typescript/bin/tsc", project);
