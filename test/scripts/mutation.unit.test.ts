import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { hashOfCode } from "../../scripts/code-tokens.mjs";
import {
  DECIDING_FILES,
  LEFT_OUT,
  mutationPage,
  readEvidence,
  staleEvidence,
} from "../../scripts/mutation-report.mjs";

const ROOT = path.resolve(import.meta.dirname, "../..");
const FILE = "src/http/redirects.ts";

it("docs/evidence/mutation.md marks each file whose code has changed since its run: if it doesn't, run `npm run docs`", () => {
  expect(readFileSync(path.join(ROOT, "docs/evidence/mutation.md"), "utf8")).toBe(mutationPage());
});

it("a file whose code differs from the code of its run is stale, and so is one without a run", () => {
  const evidence = readEvidence();
  const { [FILE]: run, ...others } = evidence;
  const rowOf = (page: string) => page.split("\n").find((line) => line.startsWith(`| \`${FILE}\``));
  if (run === undefined) throw new Error(`${FILE} was never run.`);

  const hash = hashOfCode(readFileSync(path.join(ROOT, FILE), "utf8"));
  const current = { ...evidence, [FILE]: { ...run, hash } };
  expect(staleEvidence(current)).not.toContain(FILE);
  expect(rowOf(mutationPage(current))).toMatch(/\d{4}-\d\d-\d\d, [0-9a-f]{8} \|$/);

  const changed = { ...evidence, [FILE]: { ...run, hash: "another" } };
  expect(staleEvidence(changed)).toContain(FILE);
  expect(rowOf(mutationPage(changed))).toMatch(/, \*\*changed since\*\* \|$/);

  expect(staleEvidence(others)).toContain(FILE);
  expect(rowOf(mutationPage(others))).toMatch(/\*\*not run yet\*\* \|$/);
});

it.each([
  ["a comment", "/** Says more. */\nexport const a = [1, 2]; // here", true],
  ["formatting", "export const a = [\n  1,\n  2,\n];\n", true],
  ["a value", "export const a = [1, 3];", false],
  ["a space in a text", 'export const a = [1, 2]; f(" ");', false],
])("the hash of a file and %s", (_what, code, isSame) => {
  expect(hashOfCode(code) === hashOfCode("export const a = [1, 2];")).toBe(isSame);
  expect(hashOfCode('f("  ");')).not.toBe(hashOfCode('f(" ");'));
});

it("each file of src/apis decides and has tests, or is left out with a reason", () => {
  const files = readdirSync(path.join(ROOT, "src/apis")).map((name) => `src/apis/${name}`);
  const listed = [...Object.keys(DECIDING_FILES), ...Object.keys(LEFT_OUT)];
  expect(listed.filter((file) => file.startsWith("src/apis/")).toSorted()).toEqual(
    files.toSorted(),
  );
  for (const file of [...listed, ...Object.values(DECIDING_FILES).flat()])
    expect(existsSync(path.join(ROOT, file)), file).toBe(true);
});
