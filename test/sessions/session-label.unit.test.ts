import { describe, expect, it } from "vitest";
import { labelOf } from "../../src/sessions/session-label.js";

describe("a label", () => {
  it.each([
    ["  Firefox on\r\n\t Linux  ", "Firefox on Linux"],
    ["a\u0000\u202e\u200bb", "a b"],
    [" \r\n\u0000 ", null],
    ["", null],
    [7, null],
    ["x".repeat(201), "x".repeat(200)],
    [`${" ".repeat(300)}late`, "late"],
    // Of a header of megabytes, only the beginning is read.
    [`${" ".repeat(400)}late`, null],
    // An emoji is two code units; half of one is no character.
    [`${"x".repeat(199)}😀`, `${"x".repeat(199)}\ufffd`],
    [`\ud83d`, "\ufffd"],
  ])("%j is shown as %j", (value, expected) => {
    expect(labelOf(value)).toBe(expected);
  });
});
