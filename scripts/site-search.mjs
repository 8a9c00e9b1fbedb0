// Writes the index of the site's search, in parts: the headings of all pages, and the text of each
// section of the menu. site/.vitepress/search.mjs reads them.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ALIASES } from "../site/.vitepress/aliases.mjs";
import { pagesOf, SECTIONS } from "../site/.vitepress/sidebar.mjs";

/** The pages that are generated from the types have a part of their own. */
const API = "api";

/** What divides words, and isn't a space. */
const BLOCKS =
  /<\/?(?:address|blockquote|br|button|dd|div|dl|dt|figure|h[1-6]|hr|label|li|ol|option|p|pre|section|table|tbody|td|th|thead|tr|ul)\b[^>]*>/g;

/** What isn't text of the page. */
const REMOVED =
  /<(button|svg|style|script|select)\b.*?<\/\1>|<section\b[^>]*\bclass="race".*?<\/section>|<span class="lang">.*?<\/span>|<!--.*?-->/gs;

const ENTITIES = new Map([
  ["amp", "&"],
  ["apos", "'"],
  ["gt", ">"],
  ["lt", "<"],
  ["nbsp", " "],
  ["quot", '"'],
]);

/** @typedef {import("../site/.vitepress/search.mjs").Heading} Heading */

/**
 * Writes `search/headings.json`, and a file for the text of each part.
 *
 * @param {string} dist the built site
 * @param {readonly string[]} pages such as `how-to/csrf.md`: those that the search finds
 * @returns {Record<string, number>} the size of each file, in bytes
 */
export function writeSearch(dist, pages) {
  const folder = path.join(dist, "search");
  mkdirSync(folder, { recursive: true });
  /** @type {Map<string, Record<string, readonly string[]>>} */
  const parts = new Map();
  const found = pages.map((page) => {
    const html = readFileSync(path.join(dist, page.replace(/\.md$/, ".html")), "utf8");
    const sections = sectionsOf(html, page);
    const address = `/${page.replace(/(^|\/)index\.md$/, "$1").replace(/\.md$/, ".html")}`;
    const part = partOf(page);
    const texts = parts.get(part) ?? {};
    texts[address] = sections.map(({ text }) => text);
    parts.set(part, texts);
    return { address, part, headings: sections.map(({ heading }) => heading) };
  });
  const files = {
    headings: { parts: [...parts.keys()], pages: found },
    ...Object.fromEntries(parts),
  };
  return Object.fromEntries(
    Object.entries(files).map(([name, content]) => {
      const json = JSON.stringify(content);
      writeFileSync(path.join(folder, `${name}.json`), json);
      return [name, json.length];
    }),
  );
}

/** @param {string} page */
function partOf(page) {
  if (page.startsWith(`${API}/`)) return API;
  const name = page.replace(/\.md$/, "");
  const section = SECTIONS.find(({ pages }) => pagesOf(pages).includes(name));
  return (section?.text ?? "start").toLowerCase();
}

/**
 * Divides a page at its headings.
 *
 * @param {string} html of the whole page
 * @param {string} page such as `how-to/csrf.md`
 * @param {typeof ALIASES} [aliases]
 * @returns {{ heading: Heading, text: string }[]}
 */
export function sectionsOf(html, page, aliases = ALIASES) {
  const [, main = ""] = /<main\b[^>]*>(.*)<\/main>/s.exec(html) ?? [];
  const content = main.replace(REMOVED, " ");
  const isApi = page.startsWith(`${API}/`);
  // There, a member belongs to the section of its type, and signatures repeat the names of members.
  const body = isApi ? content.replace(/<pre\b.*?<\/pre>/gs, " ") : content;
  const levels = isApi ? "1-3" : "1-6";
  const heading = new RegExp(`<h([${levels}])\\b[^>]*?\\bid="([^"]*)"[^>]*>(.*?)</h\\1>`, "gs");
  const own = new Map(Object.entries(aliases[page] ?? {}));
  const takeWords = (/** @type {string} */ anchor) => {
    const words = own.get(anchor) ?? [];
    own.delete(anchor);
    return words.join(". ");
  };
  const headings = [...body.matchAll(heading)];
  const sections = headings.map((match, index) => {
    const [whole, level = "", id = "", inner = ""] = match;
    const anchor = level === "1" ? "" : id;
    const end = headings[index + 1]?.index ?? body.length;
    return {
      heading: {
        anchor,
        title: textOf(inner.replace(/<a class="header-anchor".*?<\/a>/s, "")),
        level: Number(level),
        words: takeWords(anchor),
      },
      text: textOf(body.slice(match.index + whole.length, end)),
    };
  });
  const [lost] = own.keys();
  if (lost !== undefined)
    throw new Error(`site/.vitepress/aliases.mjs: ${page} has no heading "${lost}".`);
  return sections;
}

/** @param {string} html */
function textOf(html) {
  return html
    .replace(BLOCKS, " ")
    .replace(/<[^>]*>/g, "")
    .replace(/&(?:#x([\da-f]+)|#(\d+)|(\w+));/gi, (entity, hex, decimal, name) => {
      if (name !== undefined) return ENTITIES.get(name) ?? entity;
      return String.fromCodePoint(hex === undefined ? Number(decimal) : parseInt(hex, 16));
    })
    .replace(/[\u200B\uFEFF]/g, "")
    .replace(/\s+/g, " ")
    .trim();
}
