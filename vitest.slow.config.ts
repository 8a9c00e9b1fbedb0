import { defineConfig } from "vitest/config";

/** For tests that wait for minutes. The weekly workflow runs them, .github/workflows/interop.yml. */
export default defineConfig({
  resolve: { tsconfigPaths: true },
  test: {
    pool: "forks",
    include: ["test/**/*.slow.ts"],
    testTimeout: 1_200_000,
    hookTimeout: 300_000,
  },
});
