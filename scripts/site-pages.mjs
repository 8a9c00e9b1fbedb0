// What the site has beside VitePress's pages: the search, the pages as Markdown, llms.txt for language models,
// one address for each code, and a policy.
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DESCRIPTIONS } from "../site/.vitepress/descriptions.mjs";
import { descriptionOf } from "../site/.vitepress/head.mjs";
import { MOVED } from "../site/.vitepress/moved.mjs";
import { isApart, pagesOf, SECTIONS } from "../site/.vitepress/sidebar.mjs";
import { writeSearch } from "./site-search.mjs";

/**
 * Folders of docs/ that are pages or their pictures. The others are parts from which pages are
 * generated.
 */
const FOLDERS = [
  "about",
  "contributing",
  "deploy",
  "diagrams",
  "explanation",
  "how-to",
  "migrate",
  "providers",
  "reference",
  "screenshots",
  "start",
  "tutorial",
];

/** Files of the repository that are pages of the site too, and where. */
const REPOSITORY_PAGES = new Map([
  ["CHANGELOG.md", "docs/about/changelog.md"],
  ["CONTRIBUTING.md", "docs/contributing/index.md"],
  ["SECURITY.md", "docs/about/security-policy.md"],
]);

/**
 * Copies the pages next to VitePress's packages, because Vite finds its own parts only from there.
 *
 * @param {string} docs the repository's folder docs/
 * @param {string} pages replaced as a whole
 */
export function copyPages(docs, pages) {
  rmSync(pages, { recursive: true, force: true });
  mkdirSync(pages, { recursive: true });
  for (const name of ["index.md", ...FOLDERS])
    cpSync(path.join(docs, name), path.join(pages, name), { recursive: true });
  for (const page of filesIn(pages, ".md")) {
    const file = path.join(pages, page);
    writeFileSync(file, withSiteLinks(readFileSync(file, "utf8"), `docs/${page}`));
  }
  for (const [file, page] of REPOSITORY_PAGES) {
    writeFileSync(
      path.join(pages, page.slice("docs/".length)),
      withSiteLinks(readFileSync(path.join(docs, "..", file), "utf8"), file),
    );
  }
}

/**
 * Repairs the links to and in the files of the repository that the site shows as pages.
 *
 * @param {string} text
 * @param {string} file its path in the repository, with slashes
 * @returns {string}
 */
export function withSiteLinks(text, file) {
  const folder = path.posix.dirname(REPOSITORY_PAGES.get(file) ?? file);
  return text.replace(/\]\((?![a-z]+:|[#/])([^)\s#]+)/g, (link, /** @type {string} */ to) => {
    const target = path.posix.join(path.posix.dirname(file), to);
    const page = REPOSITORY_PAGES.get(target);
    return page === undefined && !REPOSITORY_PAGES.has(file)
      ? link
      : `](${path.posix.relative(folder, page ?? target)}`;
  });
}

/**
 * Removes the comments from which the scripts and the site's plugins build pages.
 *
 * @param {string} text
 * @returns {string}
 */
export function withoutBuildComments(text) {
  return text.replace(
    /^ *<!-- (?:\/\w+|tabs|tarball|snippet: |fragment: |with(?:out)? addresses|(?:\w+: )?[Gg]enerated by |Written by )(?:(?!-->)[^])*-->\n+/gm,
    "",
  );
}

/**
 * Adds to the built site what VitePress doesn't write.
 *
 * @param {string} docs the repository's folder docs/
 * @param {string} pages
 * @param {string} dist
 * @returns {{ pages: number, codes: number }}
 */
export function finishSite(docs, pages, dist) {
  const list = filesIn(pages, ".md");
  for (const page of list)
    writeFileSync(
      path.join(dist, page),
      withoutBuildComments(readFileSync(path.join(pages, page), "utf8")),
    );
  // The pages as Markdown show them, and so does the package.
  for (const folder of ["diagrams", "screenshots"])
    cpSync(path.join(pages, folder), path.join(dist, folder), { recursive: true });
  // The results, as JSON: files that the pages link to, and no pages.
  cpSync(path.join(docs, "evidence"), path.join(dist, "evidence"), { recursive: true });
  writeLlms(
    dist,
    list.filter((page) => page !== "index.md"),
  );
  writeSearch(
    dist,
    list.filter((page) => !isApart(page)),
  );
  const codes = writeCodeAddresses(
    readFileSync(path.join(pages, "reference/errors.md"), "utf8"),
    dist,
  );
  for (const [from, to] of Object.entries(MOVED)) writeRedirect(dist, from, to);
  for (const page of filesIn(dist, ".html")) {
    const file = path.join(dist, page);
    writeFileSync(file, withPolicy(readFileSync(file, "utf8")));
  }
  return { pages: list.length, codes };
}

/** Stands for the pages that are generated from the types. They are a section of their own. */
const TYPES = "api";

/** The heading under which a reader with little room can leave out the pages (llmstxt.org). */
const OPTIONAL = "Optional";

/**
 * Writes llms.txt, and the text of each of its sections as one file.
 *
 * @param {string} dist
 * @param {readonly string[]} pages
 */
function writeLlms(dist, pages) {
  const groups = llmsGroups(
    pages.map((page) => ({ page, text: readFileSync(path.join(dist, page), "utf8") })),
  );
  writeFileSync(path.join(dist, "llms.txt"), llmsIndex(groups));
  mkdirSync(path.join(dist, "llms"), { recursive: true });
  for (const { text: heading, pages: own } of groups) {
    const texts = own.map(({ page, text }) => `<!-- ${page} -->\n\n${text}`);
    if (heading !== OPTIONAL) writeFileSync(path.join(dist, llmsFile(heading)), texts.join("\n"));
  }
}

/** @typedef {{ page: string, text: string }} Page */
/** @typedef {{ text: string, pages: readonly Page[] }} PageGroup */

/**
 * @param {readonly Page[]} pages
 * @param {readonly import("../site/.vitepress/sidebar.mjs").Group[]} [sections]
 * @returns {PageGroup[]} the pages by the site's sections, in the order of the menus. Those that no
 *   section has come last.
 */
export function llmsGroups(pages, sections = SECTIONS) {
  const groups = sections.flatMap(({ text, pages: parts }) => {
    const own = pagesOf(parts).flatMap((name) => pages.filter(({ page }) => page === `${name}.md`));
    const hasTypes = pagesOf(parts).includes(TYPES);
    const types = pages.filter(({ page }) => page.startsWith(`${TYPES}/`));
    return [{ text, pages: own }, ...(hasTypes ? [{ text: "API", pages: types }] : [])];
  });
  const listed = new Set(groups.flatMap((group) => group.pages));
  return [...groups, { text: OPTIONAL, pages: pages.filter((page) => !listed.has(page)) }];
}

/**
 * @param {readonly PageGroup[]} groups
 * @returns {string} a heading for each group, the address of its text, and one line for each page:
 *   its title, its address, and what it is about
 */
export function llmsIndex(groups) {
  const parts = groups
    .filter(({ pages }) => pages.length > 0)
    .map(({ text, pages }) => {
      const whole = `All of these pages in one file: [${llmsFile(text)}](/${llmsFile(text)})\n\n`;
      return `## ${text}\n\n${text === OPTIONAL ? "" : whole}${pages.map(llmsLine).join("\n")}\n`;
    });
  return `# idpauth\n\n> OpenID Connect sign-in and server-side sessions for Node.js web apps.\n\n${parts.join("\n")}`;
}

/** @param {string} section */
function llmsFile(section) {
  return `llms/${section.toLowerCase()}.txt`;
}

/** @param {Page} page */
function llmsLine({ page, text }) {
  const title = /^# (.+)$/m.exec(text)?.[1] ?? page;
  const description =
    DESCRIPTIONS[page] ?? descriptionOf(text.replace(/^# .+$/m, "")).replace(/^: /, "");
  const sentence = (/^.*?[.:?](?=\s|$)/.exec(description)?.[0] ?? description).replace(/:$/, ".");
  // A page of types begins with the names that it has.
  const own = page.startsWith(`${TYPES}/`) ? description : sentence;
  return `- [${title}](/${page}): ${DESCRIPTIONS[page] ?? own}`;
}

/**
 * Writes a page for each code of errors.md that redirects to its section: `/e/E016`.
 *
 * @param {string} errors
 * @param {string} dist
 * @returns {number} how many
 */
function writeCodeAddresses(errors, dist) {
  const codes = [...errors.matchAll(/^#{3,4} `?([A-Z]\d{3}|[a-z]+(?:_[a-z]+)*)`?$/gm)].map(
    ([, code = ""]) => code,
  );
  for (const code of codes)
    writeRedirect(dist, `e/${code}`, `reference/errors#${code.toLowerCase()}`);
  return codes.length;
}

/**
 * Writes a page that leads to another one.
 *
 * @param {string} dist
 * @param {string} from the address without `.html`
 * @param {string} to the other page's address without `.html`; it can have an anchor
 */
function writeRedirect(dist, from, to) {
  const file = path.join(dist, `${from}.html`);
  const address =
    path.posix.relative(path.posix.dirname(from), htmlOf(to)) + (to.endsWith("/") ? "/" : "");
  const link = `<a href="${address}">${path.posix.basename(from)}</a>`;
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(
    file,
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${path.posix.basename(from)}</title><meta http-equiv="refresh" content="0; url=${address}"><link rel="canonical" href="${address}"></head><body>${link}</body></html>\n`,
  );
}

/**
 * @param {string} address of a page, without `.html`
 * @returns {string} with it
 */
function htmlOf(address) {
  const [page = "", ...anchor] = address.split("#");
  return [page.endsWith("/") ? page : `${page}.html`, ...anchor].join("#");
}

/**
 * Adds a Content-Security-Policy that allows only the site's own files and its inline scripts, by
 * their hashes. VitePress writes inline styles into its HTML, for which a policy has no hash.
 *
 * @param {string} html
 * @returns {string}
 */
export function withPolicy(html) {
  const hashes = [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>(.*?)<\/script>/gs)].map(
    ([, script = ""]) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`,
  );
  const policy = [
    "default-src 'none'",
    ["script-src 'self'", ...new Set(hashes)].join(" "),
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return html.replace(
    /<head>/,
    `<head><meta http-equiv="Content-Security-Policy" content="${policy}">`,
  );
}

/**
 * @param {string} folder
 * @param {string} ending
 * @returns {string[]} paths in the folder, with slashes, sorted
 */
function filesIn(folder, ending) {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .map((name) => name.replaceAll(path.sep, "/"))
    .toSorted();
}
