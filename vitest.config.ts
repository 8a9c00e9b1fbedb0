import { availableParallelism } from "node:os";
import path from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { LONGEST, MATRIX, patterns, UNIT } from "./scripts/test-rings.mjs";

const ALL = "test/**/*.test.ts";

/** Starts the longest files first, in the order of the list. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONGEST.indexOf(path.relative(import.meta.dirname, moduleId).replaceAll(path.sep, "/"));
      return at === -1 ? LONGEST.length : at;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  // What names the package as a stranger does, such as a recipe out of examples/, gets its sources.
  resolve: {
    tsconfigPaths: true,
    // Next.js is installed for its tests alone.
    alias: [{ find: /^next(?=\/|$)/, replacement: `${import.meta.dirname}/test/adapters/next-application/node_modules/next` }],
  },
  test: {
    pool: "forks",
    // Vitest leaves one core idle unless told otherwise. On two cores that doubles the time.
    maxWorkers: Number(process.env["TEST_WORKERS"]) || Math.max(2, availableParallelism() - 1),
    sequence: { sequencer: LongestFirst },
    // These end tests that hang. Tests of processes and of a browser take a busy machine ten times as long as an idle one.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // The rings of scripts/test-rings.mjs. `npx vitest run PATH` finds a file in whichever ring it is.
    projects: [
      { extends: true, test: { name: "unit", include: patterns(UNIT), isolate: false, setupFiles: ["test/support/no-outside.ts"] } },
      {
        extends: true,
        test: { name: "main", include: [ALL], exclude: [...configDefaults.exclude, ...patterns(UNIT), ...patterns(MATRIX)] },
      },
      { extends: true, test: { name: "matrix", include: patterns(MATRIX) } },
    ],
    coverage: {
      provider: "v8",
      // Every file of the package counts, also one that no test loads. Nothing is excluded.
      include: ["src/**"],
      exclude: [],
      reporter: ["text-summary", "html"],
      reportsDirectory: "coverage",
    },
  },
});
