import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { MEASURED } from "../../scripts/measured.mjs";

const DOCS = path.resolve(import.meta.dirname, "../../docs");

/** Pages with measured figures. */
const PAGES = [
  ...readdirSync(path.join(DOCS, "evidence"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `evidence/${name}`),
  "explanation/performance.md",
];

it.each(PAGES)("docs/%s says at its head when and with which command it was measured", (page) => {
  const [head = ""] = readFileSync(path.join(DOCS, page), "utf8").split(/^## |^\| /m);
  expect(head).toMatch(MEASURED);
});

it.each(PAGES.filter((page) => page.endsWith("performance.md")))(
  "docs/%s says so in each section that has a table of figures",
  (page) => {
    const sections = readFileSync(path.join(DOCS, page), "utf8").split(/^## /m).slice(1);
    const undated = sections.filter((text) => /^\|.*\d/m.test(text) && !MEASURED.test(text));
    expect(sections.length).toBeGreaterThan(5);
    expect(undated.map((text) => text.split("\n", 1)[0])).toEqual([]);
  },
);
