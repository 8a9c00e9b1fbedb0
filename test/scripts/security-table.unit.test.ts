import { existsSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { idsIn, mistakesIn, readRows } from "../../scripts/security-table.mjs";

const root = path.resolve(import.meta.dirname, "../..");

const reportOf = (...tests: readonly [name: string, status: string][]) => ({
  testResults: [
    {
      name: path.join(root, "test/a.test.ts"),
      assertionResults: tests.map(([title, status]) => ({ ancestorTitles: [""], title, status })),
    },
  ],
});

const PASSED = reportOf(["[X-1] a logout works", "passed"]);

const mistakes = (rows: readonly string[], report = PASSED) =>
  mistakesIn(
    rows.map((row) => {
      const [id = "", requirement = ""] = row.split(" | ");
      return { id, requirement };
    }),
    report,
  );

describe("the rows of docs/evidence/security.json", () => {
  it.each([
    ["a row without a test", ["X-1 | a", "X-2 | b"], PASSED, "X-2: no test has this id"],
    [
      "a row whose test failed",
      ["X-1 | a"],
      reportOf(["[X-1] a", "failed"]),
      "X-1: no test with this id passed",
    ],
  ])("do not accept %s", (_name, rows, report, mistake) => {
    expect(mistakes(rows, report)).toEqual([mistake]);
  });

  it("have many rows, all with ids that tests can have", () => {
    const rows = readRows();
    expect(rows.length).toBeGreaterThan(250);
    expect(rows.filter(({ id }) => idsIn(`[${id}]`)[0] !== id)).toEqual([]);
  });

  it("have links that lead to pages", () => {
    const links = readRows().flatMap(({ requirement }) =>
      Array.from(requirement.matchAll(/\]\((?!https?:)([^)#]+)/g), ([, page = ""]) => page),
    );
    expect(links.length).toBeGreaterThan(3);
    expect(links.filter((page) => !existsSync(path.join(root, "docs/evidence", page)))).toEqual([]);
  });
});
