import { defineConfig } from "vitest/config";

export default defineConfig({
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
