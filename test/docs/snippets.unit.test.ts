import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { printedPage } from "../../scripts/project-links.mjs";
import {
  codeBlocks,
  isForUsers,
  pages,
  regionOf,
  snippetsOf,
  withSnippets,
} from "../../scripts/snippets.mjs";

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

const blocks = pages()
  .filter(isForUsers)
  .flatMap((page) => codeBlocks(page, read(page)));
const others = blocks.filter(({ snippet }) => snippet === undefined);

it.each(pages().filter((page) => isForUsers(page) && snippetsOf(read(page)).length > 0))(
  "%s shows the files of its snippets; if not, run `npm run docs`",
  (page) => {
    expect(printedPage(withSnippets(read(page)), page)).toBe(read(page));
  },
);

it("a comment that names a snippet has a code block after it", () => {
  const markers = pages().flatMap((page) => read(page).match(/^ *<!-- snippet: /gm) ?? []);
  expect(markers.length).toBe(pages().flatMap((page) => snippetsOf(read(page))).length);
});

/**
 * Pages with blocks that have no file, and the test that runs these blocks as they stand on the
 * page.
 */
const RUN_BY_PAGE_TEST: Readonly<Record<string, string>> = {
  "README.md": "test/docs/readme.matrix.test.ts",
  "docs/about/other-callers.md": "test/docs/apis.test.ts",
  "docs/how-to/fetch-frameworks.md": "test/recipes/page.matrix.test.ts",
  "docs/how-to/live-connections.md": "test/docs/live-connections.test.ts",
  "docs/how-to/nestjs.md": "test/adapters/nestjs.matrix.test.ts",
  "docs/how-to/react-vue-svelte.md": "test/compositions/compositions.browser.matrix.test.ts",
  "docs/how-to/sessions.md": "test/docs/scaling.matrix.test.ts",
  "docs/how-to/signing-out.md": "test/docs/scaling.matrix.test.ts",
  "docs/how-to/testing.md": "test/docs/testing.test.ts",
  "docs/how-to/user-table.md": "test/docs/apis.test.ts",
  "docs/providers/auth0.md": "test/docs/application-guides.test.ts",
  "docs/providers/cognito.md": "test/docs/application-guides.test.ts",
  "docs/providers/entra-id.md": "test/docs/application-guides.test.ts",
  "docs/providers/google.md": "test/docs/application-guides.test.ts",
  "docs/providers/keycloak.md": "test/docs/application-guides.test.ts",
  "docs/providers/okta.md": "test/docs/application-guides.test.ts",
  "docs/providers/self-hosted.md": "test/docs/application-guides.test.ts",
  "docs/reference/accessors.md": "test/docs/readme.matrix.test.ts",
  "docs/reference/testing.md": "test/docs/testing.test.ts",
  "docs/tutorial/first-test.md": "test/examples/testing.matrix.test.ts",
  "docs/tutorial/staff-only.md": "test/docs/application-guides.test.ts",
};

describe("the blocks that don't come from a file", () => {
  it.each(Object.entries(RUN_BY_PAGE_TEST))(
    "%s has such blocks, and %s names the page",
    (page, test) => {
      expect(others.some((block) => block.page === page)).toBe(true);
      expect(read(test)).toContain(
        page.startsWith("docs/providers/") ? "providers/" : path.basename(page, ".md"),
      );
    },
  );
});
