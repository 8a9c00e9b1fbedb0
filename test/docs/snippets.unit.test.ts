import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { pages, regionOf, snippetsOf, withSnippets } from "../../scripts/snippets.mjs";

// Where the code of the pages for users comes from. `npm run check` compares it with the files.

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

  it("fills a block in any language", () => {
    const page = (code: string) =>
      `<!-- snippet: a/Dockerfile -->\n\n\`\`\`dockerfile\n${code}\`\`\`\n`;
    expect(withSnippets(page("FROM old\n"), () => "FROM new\n")).toBe(page("FROM new\n"));
    expect(snippetsOf(page(""))).toEqual(["a/Dockerfile"]);
  });

  it("replaces the block after the comment that names it, and keeps the block's label and indentation", () => {
    const page = (code: string) =>
      `  <!-- snippet: a.mjs#inner -->\n\n  \`\`\`js [A]\n${code}  \`\`\`\n\n\`\`\`js\nother\n\`\`\`\n`;
    expect(withSnippets(page("  old\n"), () => FILE)).toBe(page("  b: 1,\n\n  c: 2,\n"));
  });
});

it("a comment that names a snippet has a code block after it", () => {
  const markers = pages().flatMap((page) => read(page).match(/^ *<!-- snippet: /gm) ?? []);
  expect(markers.length).toBe(pages().flatMap((page) => snippetsOf(read(page))).length);
});
