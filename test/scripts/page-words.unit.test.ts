import { describe, expect, it } from "vitest";
import { pageWords, wordsOf } from "../../scripts/page-words.mjs";
import { root } from "../../scripts/run.mjs";

describe("the words that a reader reads", () => {
  it.each([
    ["prose", "# A title\n\nTwo words.\n", 4],
    ["a link's text, without its address", "[three short words](https://a.example/b-c)", 3],
    ["the cells of a table, without its rule", "| A | B |\n|---|---|\n| one | two |", 4],
    ["nothing of code and comments", "<!-- a comment -->\n\n```js\nconst a = 1;\n```\n\nEnd.", 1],
  ])("counts %s", (_, markdown, words) => {
    expect(wordsOf(markdown)).toBe(words);
  });

  it("leaves out the tables of results", () => {
    expect(wordsOf("One.\n\n| A | B |\n|---|---|\n| one | two |", true)).toBe(1);
  });

  it("are at most 90,000 outside the reference, as docs/contributing/architecture.md says", () => {
    const counted = pageWords(root).filter(({ counts }) => counts);
    expect(counted.length).toBeGreaterThan(80);
    expect(counted.reduce((sum, { words }) => sum + words, 0)).toBeLessThanOrEqual(90_000);
  });
});
