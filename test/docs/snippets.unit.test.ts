import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { codeBlocks, isForUsers, pages, regionOf, withSnippets } from "../../scripts/snippets.mjs";

// Where the code of the pages for users comes from, and what a test does with it.

const ROOT = path.resolve(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(path.join(ROOT, file), "utf8");

const FILE = `import x from "x";
// #region outer
const a = {
  // #region inner
  b: 1,

  c: 2,
  // #endregion
};
// #endregion
`;

describe("a region of a file", () => {
  it.each([
    ["outer", "const a = {\n  b: 1,\n\n  c: 2,\n};\n"],
    ["inner", "b: 1,\n\nc: 2,\n"],
    [undefined, 'import x from "x";\nconst a = {\n  b: 1,\n\n  c: 2,\n};\n'],
  ])("%s has no indentation and no comments that enclose regions", (region, code) => {
    expect(regionOf(FILE, region, "a.mjs")).toBe(code);
  });

  it("that doesn't exist throws", () => {
    expect(() => regionOf(FILE, "none", "a.mjs")).toThrow("a.mjs has no region none.");
  });

  it("replaces the block after the comment that names it, and keeps the block's label and indentation", () => {
    const page = (code: string) => `  <!-- snippet: a.mjs#inner -->\n\n  \`\`\`js [A]\n${code}  \`\`\`\n\n\`\`\`js\nother\n\`\`\`\n`;
    expect(withSnippets(page("  old\n"), () => FILE)).toBe(page("  b: 1,\n\n  c: 2,\n"));
  });
});

const blocks = pages()
  .filter(isForUsers)
  .flatMap((page) => codeBlocks(page, read(page)));
const others = blocks.filter(({ snippet }) => snippet === undefined);

it.each([...new Set(blocks.flatMap(({ page, snippet }) => (snippet === undefined ? [] : [page])))])(
  "%s shows the files of its snippets; if not, run `npm run docs`",
  (page) => {
    expect(withSnippets(read(page))).toBe(read(page));
  },
);

it("a comment that names a snippet has a code block after it", () => {
  const markers = pages().flatMap((page) => read(page).match(/<!-- snippet: /g) ?? []);
  expect(markers.length).toBe(blocks.length - others.length);
});
