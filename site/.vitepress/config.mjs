// The site of the documentation. Its pages are those of docs/, so the same files serve the
// repository, the npm package and the site.
import { fileURLToPath } from "node:url";
import { richImages } from "./figures.mjs";
import { firstScreen } from "./first-screen.mjs";
import { described, ICONS, LICENSE, shareHead, SOURCE, VERSION } from "./head.mjs";
import { fittingTables } from "./tables.mjs";
import { tabs } from "./tabs.mjs";

/** The home page: without the menu and the outline, and wider. */
const HOME = {
  frontmatter: { sidebar: false, aside: false, outline: false, next: false, pageClass: "home" },
};

/** A page that is generated from the types. */
const TYPES = { frontmatter: { pageClass: "types" } };

/** @type {import("vitepress").UserConfig} */
export default {
  lang: "en",
  title: "idpauth",
  description: "OpenID Connect sign-in and server-side sessions for Node.js web apps.",
  // scripts/site.mjs copies the pages of docs/ to this folder.
  srcDir: "pages",
  head: ICONS,
  transformHead: shareHead,
  // In the page, a repository would show the home page's front matter as a table.
  transformPageData: (page, context) => ({
    ...(page.relativePath === "index.md" && HOME),
    ...(page.relativePath.startsWith("api/") && TYPES),
    ...described(page, context),
  }),
  vite: {
    publicDir: fileURLToPath(new URL("../public", import.meta.url)),
    resolve: {
      alias: [
        {
          find: /^.*\/VPLocalSearchBox\.vue$/,
          replacement: fileURLToPath(new URL("theme/SearchBox.vue", import.meta.url)),
        },
      ],
    },
  },
  outDir: "dist",
  cacheDir: "node_modules/.cache/vitepress",
  // Addresses of the application that a page describes.
  ignoreDeadLinks: [/^https?:\/\/localhost/],
  // Pages link to files of the repository, which the site doesn't have.
  markdown: {
    anchor: { slugify: anchorOf },
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    config: (markdown) =>
      void markdown
        .use(repositoryLinks)
        .use(richImages)
        .use(tabs)
        .use(fittingTables)
        .use(firstScreen)
        .use(facts),
    languageAlias: { caddy: "nginx", haproxy: "nginx" },
  },
  themeConfig: {
    logo: { light: "/logo-light.svg", dark: "/logo-dark.svg", alt: "" },
    // The theme adds it to the menu, and all three to the footer.
    version: VERSION,
    license: LICENSE,
    source: SOURCE,
    outline: [2, 3],
    // The theme's button and keys for the search. The box is the site's own, see `vite`.
    search: { provider: "local" },
    docFooter: { prev: "Previous", next: "Next" },
  },
};

/**
 * Shows links that leave docs/ as text. With the addresses in project.json, scripts/site.mjs has
 * made them links to the repository.
 */
function repositoryLinks(/** @type {import("markdown-it").default} */ markdown) {
  markdown.core.ruler.push("repository-links", (state) => {
    const { relativePath = "" } = state.env;
    const depth = relativePath.split("/").length - 1;
    for (const block of state.tokens) {
      const open = [];
      for (const token of block.children ?? []) {
        if (token.type === "link_open") {
          const href = token.attrGet("href") ?? "";
          const leaves = href.startsWith("../".repeat(depth + 1));
          open.push(leaves);
          if (leaves) [token.tag, token.attrs] = ["span", null];
        } else if (token.type === "link_close" && open.pop()) token.tag = "span";
      }
    }
  });
}

/**
 * Marks what site/reference/shorter.mjs writes about a type and a function, next to their texts.
 */
function facts(/** @type {import("markdown-it").default} */ markdown) {
  markdown.core.ruler.push("facts", ({ tokens, env }) => {
    if (!/^(?:api\/|reference\/accessors)/.test(env.relativePath ?? "")) return;
    for (const [index, token] of tokens.entries())
      if (
        token.type === "paragraph_open" &&
        /^(?:Inherited|Extends|Implements|Type parameters|Parameters|Returns|Throws)\b:? /.test(
          tokens[index + 1]?.content ?? "",
        )
      )
        token.attrJoin("class", "fact");
  });
}

/**
 * Returns a heading's anchor as GitHub and npm write it, since the pages' links use these.
 *
 * @param {string} heading
 * @returns {string}
 */
function anchorOf(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
    .replaceAll(" ", "-");
}
