import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { markdownFiles } from "../support/markdown-files.js";

// The browser's client reads `authenticated` to tell a signed-out user from one who needs a step-up.
it("every sample that answers with a login's address has the client's shape", () => {
  const bodies = markdownFiles().flatMap((file) =>
    readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => /\{.*: (?:blocked|error|auth)\.loginUrl\b/.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(bodies.length).toBeGreaterThan(9);
  expect(
    bodies.filter(
      (line) => !/\{ authenticated: (?:true|false), login_url: \w+\.loginUrl\b/.test(line),
    ),
  ).toEqual([]);
});
