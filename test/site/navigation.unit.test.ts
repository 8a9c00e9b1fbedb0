import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { MOVED } from "../../site/.vitepress/moved.mjs";
import {
  APART,
  isApart,
  linksOf,
  menuOf,
  SECTIONS,
  sidebarsOf,
  withTitles,
  type GroupItem,
} from "../../site/.vitepress/sidebar.mjs";

const DOCS = path.resolve(import.meta.dirname, "../../docs");

/** Pages that the site makes from files of the repository. */
const FROM_REPOSITORY = ["about/changelog", "about/security-policy", "contributing/index"];

/** Parts from which pages are generated. */
const PARTS = /^(?:snippets|tables)\//;

const pages = [
  ...readdirSync(DOCS, { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll(path.sep, "/"))
    .filter((file) => file.endsWith(".md") && file !== "index.md" && !PARTS.test(file))
    .map((file) => file.slice(0, -".md".length)),
  ...FROM_REPOSITORY,
];

const sections = withTitles(
  (page) => `The title of ${page}`,
  [
    { entry: "idpauth", page: "options" },
    { entry: "idpauth", page: "hooks" },
    { entry: "idpauth/koa", page: "koa" },
  ],
  [...SECTIONS, APART],
);
const shown = sections.slice(0, -1);

const pageOf = (link: string) => link.slice(1).replace(/\/$/, "/index");

describe("the menus", () => {
  it("have each page once", () => {
    const listed = sections.flatMap(({ items }) => linksOf(items)).map(pageOf);
    expect(listed.filter((page) => !page.startsWith("api/")).toSorted()).toEqual(pages.toSorted());
  });

  it("begin each section with its start page", () => {
    expect(SECTIONS.map(({ pages: [first] }) => first)).toEqual(
      SECTIONS.map(() => expect.stringMatching(/^[a-z-]+\/index$/) as unknown),
    );
  });

  it("have a group for an entry of the package with several pages", () => {
    const reference = sections
      .find(({ text }) => text === "Reference")
      ?.items.find(({ text }) => text.startsWith("API")) as GroupItem;
    expect(reference.items).toEqual([
      { text: "The title of api/index", link: "/api/" },
      {
        text: "idpauth",
        items: [
          { text: "The title of api/options", link: "/api/options" },
          { text: "The title of api/hooks", link: "/api/hooks" },
        ],
      },
      { text: "The title of api/koa", link: "/api/koa" },
    ]);
  });

  it("mark one section for each page", () => {
    const menu = menuOf(shown);
    for (const { text, items } of shown) {
      for (const link of linksOf(items)) {
        const marked = menu.filter(({ activeMatch }) => new RegExp(activeMatch).test(link));
        expect([link, ...marked.map((entry) => entry.text)]).toEqual([link, text]);
      }
    }
  });

  it("at the top don't have the pages for contributors and reviewers, which have a menu beside them", () => {
    const menu = menuOf(shown);
    for (const link of linksOf(sections.at(-1)?.items ?? [])) {
      expect(menu.filter(({ activeMatch }) => new RegExp(activeMatch).test(link))).toEqual([]);
      expect(sidebarsOf(sections)).toHaveProperty([`${link.replace(/\/$/, "/index")}.md`]);
    }
  });

  it.each([
    ["contributing/index.md", true],
    ["contributing/tests.md", true],
    ["explanation/decisions.md", true],
    ["explanation/security.md", false],
  ])("know that %s is for contributors and reviewers: %s", (page, expected) => {
    expect(isApart(page)).toBe(expected);
  });

  it("open only the groups that contain the page", () => {
    interface Shown {
      readonly text: string;
      readonly collapsed?: boolean;
      readonly items?: readonly Shown[];
    }
    const opened = (items: readonly Shown[]): string[] =>
      items.flatMap(({ text, collapsed, items: inner = [] }) => [
        ...(collapsed === false ? [text] : []),
        ...opened(inner),
      ]);
    const openedOn = (page: string) => opened((sidebarsOf(sections)[page] ?? []) as Shown[]);
    expect(openedOn("/how-to/index.md")).toEqual([]);
    expect(openedOn("/how-to/step-up.md")).toEqual(["Users and permissions"]);
    expect(openedOn("/api/hooks.md")).toEqual(["API, from the types", "idpauth"]);
  });
});

describe.each(Object.entries(MOVED))("the old address %s", (from, to) => {
  it("isn't a page any more", () => {
    expect(pages).not.toContain(from);
  });

  it(`leads to a page: ${to}`, () => {
    const [page = ""] = to.split("#");
    // Those are generated from the types.
    if (page.startsWith("api/")) return;
    expect(existsSync(path.join(DOCS, `${page.replace(/\/$/, "/index")}.md`))).toBe(true);
  });
});
