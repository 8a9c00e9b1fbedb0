import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { DARK, LIGHT } from "../../site/diagrams/drawing.mjs";
import { figures } from "../../site/diagrams/index.mjs";

const DOCS = path.resolve(import.meta.dirname, "../../docs");

const pages = readdirSync(DOCS, { recursive: true, encoding: "utf8" }).filter((file) =>
  file.endsWith(".md"),
);

/** The images of this form, in the order of the pages' paths. */
function imagesIn(image: RegExp): { name: string; text: string }[] {
  return pages.flatMap((file) =>
    [...readFileSync(path.join(DOCS, file), "utf8").matchAll(image)].map(
      ([, text = "", name = ""]) => ({ name, text }),
    ),
  );
}

const places = imagesIn(/^!\[(.+)\]\((?:\.\.\/)?diagrams\/(.+)\.svg\)$/gm);

/** The relative luminance of WCAG 2. */
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const channel = parseInt(color.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

it("each figure is in one page, with its title, and a page shows no other figure", () => {
  const names = (images: readonly { name: string }[]) =>
    images.toSorted((one, other) => one.name.localeCompare(other.name));
  expect(names(places)).toEqual(names(figures().map(({ name, title }) => ({ name, text: title }))));
});

describe.each(figures())("the figure $name", ({ name, title, description, wide, narrow }) => {
  it.each([
    ["", wide],
    ["-narrow", narrow],
  ])("docs/diagrams has its newest version%s", (suffix, { svg }) => {
    // `npm run diagrams` writes it.
    expect(readFileSync(path.join(DOCS, `diagrams/${name}${suffix}.svg`), "utf8")).toBe(svg);
  });

  it("contains its title and what it shows, in words", () => {
    for (const { svg } of [wide, narrow]) {
      expect(svg).toContain(`<title id="title">${title}</title>`);
      expect(svg).toContain(`<desc id="desc">${description}</desc>`);
    }
  });
});

describe.each([
  ["light", LIGHT],
  ["dark", DARK],
])("the %s colors", (_scheme, colors) => {
  it.each(["panel", "box", "ours", "good", "warn", "stop"] as const)(
    "text on the surface %s has enough contrast",
    (surface) => {
      expect(contrast(colors.text, colors[surface])).toBeGreaterThanOrEqual(4.5);
      expect(contrast(colors.soft, colors[surface])).toBeGreaterThanOrEqual(4.5);
    },
  );

  it("lines have enough contrast", () => {
    expect(contrast(colors.line, colors.panel)).toBeGreaterThanOrEqual(3);
    expect(contrast(colors.accent, colors.panel)).toBeGreaterThanOrEqual(3);
  });
});
