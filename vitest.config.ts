import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { configDefaults, defineConfig } from "vitest/config";

const UNIT = "test/**/*.unit.test.ts";
const MATRIX = "test/**/*.matrix.test.ts";
/**
 * Real processes, servers and browsers can come too late on a busy machine. A test of theirs that
 * fails runs once more, and scripts/test.mjs names it. Unit tests decide their own order and time,
 * and run once.
 */
const RETRY = 1;
/**
 * Files that replace modules for their tests. The files after them in the same process would get
 * these modules, too.
 */
const MOCKING = readdirSync(`${import.meta.dirname}/test`, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".test.ts") && !/node_modules|\.(?:unit|matrix)\.test/.test(name))
  .map((name) => `test/${name}`)
  .filter((file) =>
    /\bvi\.(?:mock|doMock|resetModules)\(/.test(
      readFileSync(`${import.meta.dirname}/${file}`, "utf8"),
    ),
  );

export default defineConfig({
  // What names the package as a stranger does, such as a recipe out of examples/, gets its sources.
  resolve: {
    tsconfigPaths: true,
    // Next.js is installed for its tests alone.
    alias: [
      {
        find: /^next(?=\/|$)/,
        replacement: `${import.meta.dirname}/test/adapters/next-application/node_modules/next`,
      },
    ],
  },
  test: {
    pool: "forks",
    // Vitest leaves one core idle unless told otherwise. On two cores that doubles the time.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // These end tests that hang. Tests of processes and of a browser take a busy machine ten times
    // as long as an idle one.
    testTimeout: 240_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    // The ring of a test is in its file name, see scripts/test-plan.mjs. `npx vitest run PATH`
    // finds a file in whichever ring it is.
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          testTimeout: 20_000,
          hookTimeout: 20_000,
          include: [UNIT],
          isolate: false,
          setupFiles: ["test/support/no-outside.ts", "test/support/late-modules.ts"],
        },
      },
      // The files of a worker share its modules, since loading them anew for each file took half of
      // the time.
      {
        extends: true,
        test: {
          name: "main",
          retry: RETRY,
          isolate: false,
          include: ["test/**/*.test.ts"],
          exclude: [...configDefaults.exclude, UNIT, MATRIX, ...MOCKING],
        },
      },
      { extends: true, test: { name: "main-isolated", retry: RETRY, include: MOCKING } },
      { extends: true, test: { name: "matrix", retry: RETRY, include: [MATRIX] } },
    ],
  },
});
