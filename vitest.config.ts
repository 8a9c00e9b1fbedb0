import { defineConfig } from "vitest/config";

export default defineConfig({
  // What names the package as a stranger does, such as a recipe out of examples/, gets its sources.
  resolve: { tsconfigPaths: true },
  test: {
    include: ["test/**/*.test.ts"],
    pool: "forks",
    // Whole trips start processes and a browser; rules take milliseconds either way.
    testTimeout: 30_000,
    hookTimeout: 60_000,
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
