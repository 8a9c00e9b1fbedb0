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
    ["a row with a test that passed", ["X-1 | a logout works"], PASSED],
    [
      "a row whose id is in the name of a group",
      ["X-1 | a"],
      { testResults: [inGroup("[X-1] logout", "works")] },
    ],
    [
      "a row with a test that passed and one for longer runs",
      ["X-1 | a"],
      reportOf(["[X-1] a", "passed"], ["[X-1] b", "skipped"]),
    ],
    ["a test with several ids", ["X-1 | a", "Y2 | b"], reportOf(["[X-1] [Y2] both", "passed"])],
  ])("accept %s", (_name, rows, report) => {
    expect(mistakes(rows, report)).toEqual([]);
  });

  it.each([
    ["a row without a test", ["X-1 | a", "X-2 | b"], PASSED, "X-2: no test has this id"],
    [
      "a row whose tests were skipped",
      ["X-1 | a"],
      reportOf(["[X-1] a", "skipped"]),
      "X-1: no test with this id passed",
    ],
    [
      "a row whose test failed",
      ["X-1 | a"],
      reportOf(["[X-1] a", "failed"]),
      "X-1: no test with this id passed",
    ],
    [
      "an id without a row",
      ["X-1 | a"],
      reportOf(["[X-1] [X-2] a", "passed"]),
      "X-2: a test has this id, the table has not",
    ],
    ["two rows with one id", ["X-1 | a", "X-1 | b"], PASSED, "X-1: has two rows"],
    ["a row whose id is no id", ["X-1 | a", "x | b"], PASSED, "x: is not an id"],
    ["a row without a requirement", ["X-1 | "], PASSED, "X-1: says nothing"],
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

function inGroup(group: string, title: string) {
  return {
    name: path.join(root, "test/a.test.ts"),
    assertionResults: [{ ancestorTitles: [group], title, status: "passed" }],
  };
}
