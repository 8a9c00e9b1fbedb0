import { expect } from "vitest";
import { tagsOf } from "./tags.js";

/**
 * Expects what every page has: one h1, one main, English, no script, no inline style, one
 * stylesheet, `forms` forms.
 */
export function expectOrderlyPage(page: string, forms = 0): void {
  const tags = tagsOf(page).filter((tag) => !tag.end);
  const count = (name: string) => tags.filter((tag) => tag.name === name).length;
  expect([count("h1"), count("main"), count("title"), count("link")]).toEqual([1, 1, 1, 1]);
  for (const name of ["script", "style", "iframe", "object", "embed", "base"])
    expect(count(name)).toBe(0);
  expect(count("form")).toBe(forms);
  const attributes = tags.flatMap((tag) => [...tag.attributes.keys()]);
  expect(
    attributes.filter((name) => name === "style" || name === "srcset" || name.startsWith("on")),
  ).toEqual([]);
  expect(tags.find((tag) => tag.name === "html")?.attributes.get("lang")).toBe("en");
  expect(page).toContain('<meta name="robots" content="noindex"');
  expect(page).toContain('<meta name="viewport" content="width=device-width, initial-scale=1"');
}
