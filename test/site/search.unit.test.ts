import { describe, expect, it } from "vitest";
import { sectionsOf } from "../../scripts/site-search.mjs";
import { createSearch, excerptOf } from "../../site/.vitepress/search.mjs";

const heading = (title: string, anchor = "", words = "") => ({
  anchor,
  title,
  level: anchor === "" ? 1 : 2,
  words,
});

function searchIn(pages: Readonly<Record<string, readonly [title: string, text: string][]>>) {
  const names = Object.keys(pages);
  const index = createSearch({
    parts: ["guides"],
    pages: names.map((name) => ({
      address: `/${name}.html`,
      part: "guides",
      headings: (pages[name] ?? []).map(([title], at) => heading(title, at === 0 ? "" : `s${at}`)),
    })),
  });
  const add = () => {
    index.add(
      Object.fromEntries(
        names.map((name) => [`/${name}.html`, (pages[name] ?? []).map(([, text]) => text)]),
      ),
    );
  };
  return { index, add, found: (query: string) => index.find(query).map(({ href }) => href) };
}

describe("the search", () => {
  it("finds headings before the text has arrived, and then the text", () => {
    const { found, add } = searchIn({
      a: [["Sessions", "A cookie names it."]],
      b: [["Tokens", ""]],
    });
    expect(found("sessions")).toEqual(["/a.html"]);
    expect(found("cookie")).toEqual([]);
    add();
    expect(found("cookie")).toEqual(["/a.html"]);
  });

  it("prefers the words of a phrase one after the other", () => {
    const { found, add } = searchIn({
      a: [["Bugs", "A fixation of a session is a session that ends."]],
      b: [["Attacks", "Session fixation is prevented, since each sign-in makes a new id."]],
    });
    add();
    expect(found("session fixation")).toEqual(["/b.html", "/a.html"]);
  });

  it.each(["contribute", "contributing", "contribut", "contirbute"])("finds %s", (query) => {
    expect(searchIn({ a: [["Contributing", ""]], b: [["Other", ""]] }).found(query)).toEqual([
      "/a.html",
    ]);
  });

  it("finds a part of a name", () => {
    expect(searchIn({ a: [["getAccessToken", ""]] }).found("access token")).toEqual(["/a.html"]);
  });

  it("finds a query that consists of common words", () => {
    expect(searchIn({ a: [["Why not", ""]] }).found("why not")).toEqual(["/a.html"]);
  });

  it("shows three results of a page at most", () => {
    const sections = Array.from({ length: 6 }, (): [string, string] => ["Sessions", ""]);
    expect(searchIn({ a: sections }).found("sessions")).toHaveLength(3);
  });

  it("shows the text around the words", () => {
    const text = `${"before ".repeat(40)}the session fixation attack ${"after ".repeat(40)}`;
    const pieces = excerptOf(text.trim(), ["session", "fixation"]);
    expect(pieces.filter(({ isMatch }) => isMatch).map((piece) => piece.text)).toEqual([
      "session",
      "fixation",
    ]);
    expect(pieces.map((piece) => piece.text).join("")).toMatch(/^… before .* …$/);
  });
});

describe("the index", () => {
  const page = (content: string) => `<nav>Menu</nav><main class="main">${content}</main>`;

  it("divides a page at its headings, and has its text without code of the page itself", () => {
    const html = page(
      '<h1 id="a" tabindex="-1">A &amp; B <a class="header-anchor" href="#a">#</a></h1><p>One <code>two</code>.</p><ul><li>three</li></ul><button>Copy</button><h2 id="b">C</h2><p>Four</p>',
    );
    expect(sectionsOf(html, "how-to/x.md", {})).toEqual([
      { heading: { anchor: "", title: "A & B", level: 1, words: "" }, text: "One two. three" },
      { heading: { anchor: "b", title: "C", level: 2, words: "" }, text: "Four" },
    ]);
  });

  it("adds what people type for a heading, which has to exist", () => {
    const html = page('<h1 id="a">A</h1><h2 id="b">B</h2>');
    const words = (anchor: string) => ({ "how-to/x.md": { [anchor]: ["one", "two words"] } });
    const [, second] = sectionsOf(html, "how-to/x.md", words("b"));
    expect(second?.heading.words).toBe("one. two words");
    expect(() => sectionsOf(html, "how-to/x.md", words("c"))).toThrow('has no heading "c"');
  });
});
