import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { mistakesIn, rowsOf } from "../../scripts/security-table.mjs";

const root = path.resolve(import.meta.dirname, "../..");

const REPORT = {
  testResults: [
    {
      name: path.join(root, "test/a.test.ts"),
      assertionResults: [
        { ancestorTitles: ["logout"], title: "works", status: "passed" },
        { ancestorTitles: ["logout"], title: "fails", status: "failed" },
        { ancestorTitles: [], title: "a | b", status: "passed" },
        { ancestorTitles: ["left out"], title: "x", status: "skipped" },
        { ancestorTitles: ["partly"], title: "kept", status: "passed" },
        { ancestorTitles: ["partly"], title: "only in longer runs", status: "skipped" },
      ],
    },
  ],
};

const judged = (proof: string) =>
  mistakesIn(
    rowsOf(
      `| A | B | C |\n|---|---|---|\n| not one of ours | x | y |\n\n| Id | Demanded | Shown by |\n|---|---|---|\n| X-1 | something | ${proof} |`,
    ),
    REPORT,
  );

describe("a row of docs/evidence/security.md", () => {
  it.each([
    ["a test by its full name", "`test/a.test.ts` › logout › works"],
    ["a name with a bar", "`test/a.test.ts` › a \\| b"],
    ["several", "`test/a.test.ts` › logout › works<br>`test/a.test.ts` › a \\| b"],
    ["a group of which some is for longer runs only", "`test/a.test.ts` › partly"],
    ["all that begin with a text", "`test/a.test.ts` › logout › w…"],
    ["a reason", "n/a: there is nothing of the kind here"],
  ])("is content with %s", (_name, proof) => {
    expect(judged(proof)).toEqual([]);
  });

  it.each([
    ["a test that does not exist", "`test/a.test.ts` › logout › work", 'X-1: test/a.test.ts has no test "logout › work"'],
    ["a file that does not exist", "`test/b.test.ts` › logout", 'X-1: test/b.test.ts has no test "logout"'],
    ["a test that failed", "`test/a.test.ts` › logout › fails", 'X-1: test/a.test.ts, "logout › fails" is failed'],
    ["a group in which one failed", "`test/a.test.ts` › logout", 'X-1: test/a.test.ts, "logout › fails" is failed'],
    ["a beginning that no test has", "`test/a.test.ts` › logout › x…", 'X-1: test/a.test.ts has no test "logout › x…"'],
    ["a beginning of which one failed", "`test/a.test.ts` › log…", 'X-1: test/a.test.ts, "logout › fails" is failed'],
    ["a test that was skipped", "`test/a.test.ts` › left out", 'X-1: test/a.test.ts, "left out › x" is skipped'],
    ["a bar that is not escaped", "`test/a.test.ts` › a | b", "X-1: cannot be read: | X-1 | something | `test/a.test.ts` › a | b |"],
    [
      "a reference in another form beside a good one",
      "`test/a.test.ts` › logout › works<br>`test/a.test.mjs` › gone",
      "X-1: cannot be read: `test/a.test.mjs` › gone",
    ],
    ["words alone", "it is so", "X-1: names no test and gives no reason"],
    ["nothing", "", "X-1: names no test and gives no reason"],
  ])("is not content with %s", (_name, proof, mistake) => {
    expect(judged(proof)).toEqual([mistake]);
  });
});

it("a row that is not written like the others hides neither itself nor those after it", () => {
  const table =
    "| Id | Demanded | Shown by |\n|---|---|---|\n|X-1| something | words |\n  | X-2 | something | words |\n| X-3 | something | words |";
  expect(rowsOf(table).map(({ id }) => id)).toEqual(["X-1", "X-2", "X-3"]);
});

describe("docs/evidence/security.md", () => {
  const rows = rowsOf(readFileSync(path.join(root, "docs/evidence/security.md"), "utf8"));

  it("has a row for everything", () => {
    expect(rows.length).toBeGreaterThan(250);
    expect(rows.filter(({ references, reason }) => references.length === 0 && reason === undefined)).toEqual([]);
  });

  it("names only files that exist; that the tests in them ran and passed is looked at after the run", () => {
    const files = new Set(rows.flatMap(({ references }) => references.map(({ file }) => file)));
    expect([...files].filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
  });
});
