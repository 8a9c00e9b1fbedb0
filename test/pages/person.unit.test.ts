import { describe, expect, it } from "vitest";
import { MAX_SHOWN_CODE_POINTS, shownText } from "../../src/pages/person.js";

describe("a claim as a page shows it", () => {
  it.each([
    ["plain", "Ada Lovelace", "Ada Lovelace"],
    ["with white space folded", "  Ada \t\n Lovelace ", "Ada Lovelace"],
    [
      "without overrides of writing direction",
      "\u202eecalevoL\u202c \u2066adA\u2069\u200f",
      "ecalevoL adA",
    ],
    ["without control characters", "A\u0000d\u001ba\u0085\u007f", "A d a"],
    ["without separators of lines", "Ada\u2028Lovelace\u2029", "Ada Lovelace"],
    ["without half characters", "Ada \ud83d", "Ada"],
    ["with whole characters", "Ada 👩🏽‍💻", "Ada 👩🏽‍💻"],
    ["with other scripts", "آدا لوفلایس", "آدا لوفلایس"],
    ["with accents as marks", "Vie\u0323\u0302t", "Vie\u0323\u0302t"],
    ["without towers of marks", `Z${"\u0335".repeat(500)}algo`, `Z${"\u0335".repeat(4)}algo`],
    ["with markup as the text it is", "<b>Ada</b>", "<b>Ada</b>"],
  ])("%s", (_name, claim, shown) => {
    expect(shownText(claim)).toBe(shown);
  });

  it.each([
    ["null", null],
    ["empty", ""],
    ["white space", " \t\u00a0"],
    ["characters that show nothing", "\u200b\u200d\u2060"],
    ["direction marks only", "\u202e\u202c"],
    ["marks without a letter", "\u0301\u0301"],
  ])("nothing is shown of %s", (_name, claim) => {
    expect(shownText(claim)).toBeUndefined();
  });

  it("shows at most 200 code points, and an ellipsis for the rest", () => {
    expect(shownText("👩".repeat(MAX_SHOWN_CODE_POINTS))).toBe("👩".repeat(MAX_SHOWN_CODE_POINTS));
    expect(shownText("👩".repeat(MAX_SHOWN_CODE_POINTS + 1))).toBe(
      `${"👩".repeat(MAX_SHOWN_CODE_POINTS)}…`,
    );
    expect(shownText("a".repeat(1_000_000))).toBe(`${"a".repeat(MAX_SHOWN_CODE_POINTS)}…`);
  });
});
