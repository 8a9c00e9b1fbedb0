import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";

const ROOT = path.resolve(import.meta.dirname, "../..");

const page = readFileSync(path.join(ROOT, "docs/contributing/grammar.md"), "utf8");

/** A block's first line names its file. Lines such as `// …` stand for what is left out. */
const blocks = [...page.matchAll(/^```ts\n\/\/ (src\/\S+)\n(.*?)^```$/gms)].map(
  ([, file = "", code = ""]) => ({ file, code }),
);

it("each block of code on the page names its file", () => {
  expect(blocks.length).toBeGreaterThan(7);
  expect([...page.matchAll(/^```ts$/gm)]).toHaveLength(blocks.length);
});

it.each(blocks)("the example from $file is in the file as it is on the page", ({ file, code }) => {
  const text = readFileSync(path.join(ROOT, file), "utf8");
  for (const part of code.split(/^ *\/\/ …\n/m)) expect(text).toContain(part);
});
