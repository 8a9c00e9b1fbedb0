// For `npm run mutation`, which starts one Stryker for each file and says in the environment which
// file it changes and where its report goes.

export default {
  mutate: [process.env["MUTATION_FILE"] ?? ""],
  testRunner: "vitest",
  vitest: { configFile: "vitest.mutation.config.ts" },
  plugins: ["@stryker-mutator/vitest-runner"],
  coverageAnalysis: "perTest",
  concurrency: 1,
  timeoutMS: 10_000,
  timeoutFactor: 2,
  reporters: ["json"],
  jsonReporter: { fileName: process.env["MUTATION_REPORT"] ?? "" },
  ignorePatterns: [
    "/dist",
    "/.builds",
    "/reports",
    "/demo",
    "/examples",
    "/bench",
    "/docs",
    "/test/browser",
    "/test/adapters",
    "/test/runtimes",
  ],
  tempDirName: ".stryker-tmp",
  allowConsoleColors: false,
};
