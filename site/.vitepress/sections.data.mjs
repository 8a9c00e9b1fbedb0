// What the theme makes the menus from, read from the pages when the site is built. VitePress reads
// files of this name, `*.data.mjs`.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { APART, SECTIONS, withTitles } from "./sidebar.mjs";

const PAGES = fileURLToPath(new URL("../pages", import.meta.url));

export default {
  watch: ["../pages/**/*.md"],
  load: () => readSections(PAGES),
};

/**
 * @param {string} pages the folder of the site's pages
 * @returns {import("./sidebar.mjs").GroupItem[]} the sections, and what is apart from them
 */
export function readSections(pages) {
  /** @type {import("./sidebar.mjs").ReferencePage[]} what scripts/site-reference.mjs wrote */
  const reference = JSON.parse(readFileSync(path.join(pages, "api/pages.json"), "utf8"));
  return withTitles((page) => titleOf(pages, page), reference, [...SECTIONS, APART]);
}

/**
 * @param {string} pages
 * @param {string} page
 * @returns {string} its title, as HTML
 */
function titleOf(pages, page) {
  const file = path.join(pages, `${page}.md`);
  if (!existsSync(file))
    throw new Error(`site/.vitepress/sidebar.mjs lists ${page}, which isn't a page of docs/.`);
  const title = /^# (.+)$/m.exec(readFileSync(file, "utf8"))?.[1] ?? page;
  return title.replaceAll("`", "").replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
