import { defineConfig } from "vitest/config";

/**
 * For `npm run mutation`, which says which tests bear on the file that it changes; all of them run
 * inside one process.
 */
export default defineConfig({
  resolve: { tsconfigPaths: true },
  test: {
    include: process.env["MUTATION_TESTS"]?.split(" ") ?? [],
    // Beyond the longest wait in them, so that a machine with other work fails no test; short for a
    // change that never ends.
    testTimeout: 60_000,
    hookTimeout: 30_000,
  },
});
