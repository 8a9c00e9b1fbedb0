import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { readRows } from "../../scripts/security-table.mjs";
import { filesOfId, withTestLinks } from "../../scripts/test-links.mjs";

const ROOT = path.resolve(import.meta.dirname, "../..");
const FILES = "https://git.example/idpauth/idpauth/blob/v1.2.3";

const linked = (page: string) =>
  withTestLinks(readFileSync(path.join(ROOT, page), "utf8"), page, FILES);

const targetsIn = (text: string) =>
  Array.from(
    text.matchAll(/\]\(https:\/\/git\.example\/idpauth\/idpauth\/blob\/v1\.2\.3\/([^)]+)\)/g),
    ([, file = ""]) => file,
  );

describe("with an address, a page links the tests that it names", () => {
  it.each(["docs/about/rfc-10017.md", "docs/about/standards.md", "docs/reference/threat-model.md"])(
    "%s: to files that exist",
    (page) => {
      const targets = targetsIn(linked(page));
      expect(targets.length).toBeGreaterThan(15);
      expect(targets.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
    },
  );

  it("each row of docs/evidence/security.json that applies has a test", () => {
    const rows = readRows().filter(({ requirement }) => !requirement.startsWith("n/a: "));
    expect(rows.length).toBeGreaterThan(250);
    expect(rows.filter(({ id }) => filesOfId(id).length === 0)).toEqual([]);
  });

  it.each([
    [
      "docs/about/x.md",
      "See `test/support/free-port.ts`.",
      `See [\`test/support/free-port.ts\`](${FILES}/test/support/free-port.ts).`,
    ],
    ["docs/about/x.md", "[`test/support`](x) `test/none.ts`", "[`test/support`](x) `test/none.ts`"],
    ["docs/about/x.md", "```sh\nls `test/support`\n```", "```sh\nls `test/support`\n```"],
    ["docs/how-to/x.md", "`test/support/free-port.ts`", "`test/support/free-port.ts`"],
    [
      "docs/about/standards.md",
      "| BCP-3 | a |",
      `| [BCP-3](${FILES}/a.ts) [2](${FILES}/b.ts) | a |`,
    ],
    [
      "docs/about/rfc-10017.md",
      "| a | `[BCP-3]` |",
      `| a | [\`[BCP-3]\`](${FILES}/a.ts) [2](${FILES}/b.ts) |`,
    ],
    ["docs/about/standards.md", "The tests of BCP-3, `BCP-3`", "The tests of BCP-3, `BCP-3`"],
  ])("%s: %j", (page, text, expected) => {
    expect(withTestLinks(text, page, FILES, () => ["a.ts", "b.ts"])).toBe(expected);
  });
});
