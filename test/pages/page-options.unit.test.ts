import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pageFindings } from "../../src/pages/check-page-options.js";
import { contrast } from "../../src/pages/colors.js";
import type { PagesOptions } from "../../src/pages/page-options.js";

const codesOf = (pages: unknown) => pageFindings(pages).map(({ code }) => code);
const messagesOf = (pages: unknown) => pageFindings(pages).map(({ message }) => message);

const FULL: PagesOptions = {
  name: "Example Shop",
  logo: { src: "https://cdn.example/logo.svg", alt: "Example Shop", width: 160, height: 40 },
  colors: {
    accent: "#0a5c36",
    background: "#F4F4F4",
    dark: { accent: "#7ddba9", background: "#101010" },
  },
  homeHref: "/shop?from=sign-in",
  locale: "auto",
  messages: {
    en: {
      "signedOut.text": "Sign in with your staff account.",
      "sessions.hidden": { one: "{count} more.", other: "{count} more." },
    },
    ar: { "sessions.hidden": "{count}", "error.retry": "{duration}" },
  },
  render: () => undefined,
};

describe("the option pages", () => {
  it.each<[string, PagesOptions | undefined]>([
    ["absent", undefined],
    ["empty", {}],
    ["complete", FULL],
    ["with the path of a logo, and a name", { name: "Shop", logo: "/logo.svg" }],
    [
      "with a logo of this machine",
      { logo: { src: "http://localhost:3000/logo.svg", alt: "Shop" } },
    ],
  ])("is accepted: %s", (_title, pages) => {
    expect(pageFindings(pages)).toEqual([]);
  });

  it.each<[unknown, string]>([
    [null, "`pages` is null"],
    ["Shop", "`pages` is a string; allowed: an object."],
    [[], "`pages` is an empty list"],
    [{ nmae: "x" }, 'There is no option "pages.nmae".'],
    [{ name: "" }, "`pages.name` is an empty string"],
    [{ name: "x".repeat(101) }, "`pages.name` is a string"],
    [{ name: "a\nb" }, "`pages.name` is a string"],
    [{ name: 5 }, "`pages.name` is a number (5)"],
    [{ name: "S", logo: "logo.svg" }, '`pages.logo` is a string ("logo.svg"); allowed: a path'],
    [{ name: "S", logo: "//evil.example/logo.svg" }, "`pages.logo` is a string"],
    [{ name: "S", logo: "/\\evil.example" }, "`pages.logo` is a string"],
    [{ name: "S", logo: "http://cdn.example/logo.svg" }, "`pages.logo` is a string"],
    [{ name: "S", logo: "data:image/png;base64,AA" }, "`pages.logo` is a string"],
    [{ name: "S", logo: "javascript:alert(1)" }, "`pages.logo` is a string"],
    [{ name: "S", logo: {} }, "`pages.logo.src` is missing."],
    [{ name: "S", logo: { src: "/a", width: 0.5 } }, "`pages.logo.width` is a fraction (0.5)"],
    [{ logo: "/logo.svg" }, "`pages.logo` has no `alt`, and `pages.name` isn't set."],
    [
      { colors: { accent: "blue" } },
      '`pages.colors.accent` is a string ("blue"); allowed: a color as `#rrggbb`.',
    ],
    [{ colors: { accent: "#123" } }, "`pages.colors.accent` is a string"],
    [
      { colors: { accent: "#123456; } body { display: none" } },
      "`pages.colors.accent` is a string",
    ],
    [{ colors: { accent: "#123456\n" } }, "`pages.colors.accent` is a string"],
    [{ colors: { dark: { acent: "#ffffff" } } }, 'There is no option "pages.colors.dark.acent".'],
    [{ homeHref: "" }, "`pages.homeHref` is an empty string"],
    [{ homeHref: "javascript:alert(1)" }, "`pages.homeHref` is a string"],
    [{ homeHref: "//evil.example" }, "`pages.homeHref` is a string"],
    [{ locale: "it" }, '`pages.locale` is a string ("it"); allowed: auto, en, de, fr, es, ja, ar.'],
    [{ locale: "constructor" }, "`pages.locale` is a string"],
    [{ messages: { it: {} } }, 'There is no option "pages.messages.it".'],
    [
      { messages: { de: { "signedOut.headng": "x" } } },
      'There is no option "pages.messages.de.signedOut.headng".',
    ],
    [{ messages: { de: { toString: "x" } } }, 'There is no option "pages.messages.de.toString".'],
    [
      { messages: { de: { "signedOut.text": "{name}" } } },
      "`pages.messages.de.signedOut.text` has no placeholder {name}.",
    ],
    [
      { messages: { de: { "signedOut.text": " " } } },
      "`pages.messages.de.signedOut.text` is a blank string; allowed: a string.",
    ],
    [
      { messages: { de: { "signedOut.text": { other: "x" } } } },
      "`pages.messages.de.signedOut.text` is an object; allowed: a string.",
    ],
    [
      { messages: { de: { "sessions.hidden": { one: "x" } } } },
      "`pages.messages.de.sessions.hidden.other` is missing.",
    ],
    [
      { messages: { de: { "sessions.hidden": { other: "{n}" } } } },
      "`pages.messages.de.sessions.hidden.other` has no placeholder {n}.",
    ],
    [{ messages: { de: null } }, "`pages.messages.de` is null"],
    [{ render: "<p>" }, "`pages.render` is a string"],
  ])("is refused: %j", (pages, message) => {
    expect(messagesOf(pages)[0]).toContain(message);
    expect(codesOf(pages)).toEqual([message.startsWith("There is no option") ? "E010" : "E006"]);
  });

  it("reports every error at once, each with a remedy", () => {
    const findings = pageFindings({
      name: 1,
      locale: "xx",
      colors: { accent: 1, dark: { accent: 2 } },
      messages: { de: { a: "b" } },
    });
    expect(findings).toHaveLength(5);
    for (const { remedy, severity } of findings) {
      expect(severity).toBe("error");
      expect(remedy).not.toBe("");
    }
  });

  it("suggests the name that a misspelt one probably means", () => {
    expect(pageFindings({ messages: { de: { "signedOut.headng": "x" } } })[0]?.remedy).toContain(
      "`signedOut.heading`",
    );
    expect(pageFindings({ messages: { de: { "error.retry": "{seconds}" } } })[0]?.remedy).toBe(
      "Use {duration}.",
    );
  });

  it("has a finding or none for any value, and never throws", () => {
    fc.assert(
      fc.property(
        fc.object({
          key: fc.constantFrom(
            "name",
            "logo",
            "colors",
            "dark",
            "accent",
            "messages",
            "de",
            "src",
            "x",
          ),
        }),
        (pages) => {
          for (const { code } of pageFindings(pages)) expect(code).toMatch(/^E0(?:06|10)$/);
        },
      ),
    );
  });
});

describe("the contrast of colors", () => {
  it.each([
    ["#000000", "#ffffff", 21],
    ["#ffffff", "#ffffff", 1],
    ["#777777", "#ffffff", 4.48],
    ["#767676", "#FFFFFF", 4.54],
  ])("of %s and %s is %d", (one, other, ratio) => {
    expect(contrast(one, other)).toBeCloseTo(ratio, 2);
    expect(contrast(other, one)).toBeCloseTo(ratio, 2);
  });
});
