import { expect, it } from "vitest";
import { STYLE } from "../../src/pages/style.js";

it("the stylesheet loads nothing from anywhere", () => {
  expect(STYLE).not.toMatch(/url\(|@import|@font-face|https?:|image-set/);
});

it.each([
  "prefers-color-scheme: dark",
  "prefers-reduced-motion",
  ":focus-visible",
  "@media print",
  "forced-colors",
])("the stylesheet knows %s", (feature) => {
  expect(STYLE).toContain(feature);
});
