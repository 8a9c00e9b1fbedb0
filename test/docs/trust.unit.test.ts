import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";

const ROOT = path.resolve(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(path.join(ROOT, file), "utf8").replace(/\s+/g, " ");

it.each([
  "SECURITY.md",
  "docs/about/evidence.md",
  "docs/about/project.md",
  "docs/about/questions.md",
  "docs/about/support.md",
  "docs/explanation/security.md",
  "docs/reference/threat-model.md",
])("%s says that there was no audit, and what exists instead", (file) => {
  const text = read(file);
  expect(text).toMatch(/nobody outside the project has/i);
  expect(text).toMatch(/each (?:security requirement|threat).*? (?:has|have) tests/i);
});

it("the goals that the proxy missed are where a reader looks for missed goals", () => {
  const measured = readFileSync(path.join(ROOT, "docs/evidence/performance.md"), "utf8");
  const section = measured.split("## The proxy\n")[1]?.split(/^## /m)[0] ?? "";
  const missed = Array.from(
    section.matchAll(/^\| .* \| \*\*([\d.]+)\*\* \|.*\*\*no\*\*/gm),
    ([, ratio]) => ratio,
  );
  const page = readFileSync(path.join(ROOT, "docs/explanation/performance.md"), "utf8");
  const [, goals = ""] = page.split("## Where it missed its goals");
  expect(missed).toHaveLength(2);
  expect(missed.filter((ratio) => !goals.includes(`| at least 0.9 | ${ratio!} |`))).toEqual([]);
});
