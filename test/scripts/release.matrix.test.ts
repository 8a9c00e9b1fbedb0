import path from "node:path";
import { expect, it } from "vitest";
import { missingAddresses } from "../../scripts/project-links.mjs";
import { output, readJson } from "../../scripts/run.mjs";

const ROOT = path.resolve(import.meta.dirname, "../..");

it("`npm run release -- --check` lists what is missing", async () => {
  const { text, code } = await output(["scripts/release.mjs", "--check"]);
  const missing = missingAddresses(
    readJson(path.join(ROOT, "project.json")) as Parameters<typeof missingAddresses>[0],
  );
  const listed = text.split("\n").filter((line) => line.startsWith("project.json: "));
  expect(listed).toEqual(missing);
  expect(text).not.toContain("CHANGELOG.md has no notes");
  expect(code).toBe(text.includes("nothing\n") ? 0 : 1);
});
