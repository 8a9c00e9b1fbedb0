// What a page's <head> says of it: its description, and what a link to the page shows elsewhere.
import { readFileSync } from "node:fs";
import path from "node:path";
import { missingAddresses, readProject } from "../../scripts/project-links.mjs";
import { DESCRIPTIONS } from "./descriptions.mjs";

/** The most letters that search engines show. */
const LONGEST = 160;

const project = readProject();
const { documentation } = project;
const isReleased = missingAddresses(project).length === 0;

export const { version, license: LICENSE } = /** @type {{ version: string, license: string }} */ (
  JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))
);

/** In the menu and the footer: the version that the pages are about. */
export const VERSION = {
  text: isReleased ? version : `${version}, not released`,
  link: "/about/changelog",
};

/** The address of the source. Empty: there is none yet. */
export const SOURCE = isReleased ? project.repository : "";

// The types are written here, because the type check runs before the site's packages are installed.
/** @typedef {[string, Record<string, string>]} HeadElement */

/** @type {HeadElement[]} */
export const ICONS = [
  ["link", { rel: "icon", href: "/favicon.svg", type: "image/svg+xml" }],
  ["link", { rel: "icon", href: "/favicon-32.png", type: "image/png", sizes: "32x32" }],
  ["link", { rel: "apple-touch-icon", href: "/apple-touch-icon.png" }],
];

/**
 * Returns a page's title and its first paragraph as plain text, cut at the end of a sentence.
 * Without the title, pages that begin alike would have the same description.
 *
 * @param {string} source Markdown
 * @returns {string}
 */
export function descriptionOf(source) {
  const title = plain(/^# (.+)$/m.exec(source)?.[1] ?? "");
  const body = source
    .replace(/^---\n.*?\n---\n/s, "")
    .replace(/^(```+|~~~+).*?^\1$/gms, "")
    .replace(/<!--.*?-->/gs, "");
  const paragraph = body
    .split(/\n{2,}/)
    .map((block) => block.trim())
    .find((block) => /^(?![#|>!<]|[-*+] |\d+\. )\S/.test(block));
  const text = cut(plain(paragraph ?? "").replace(/:$/, "."));
  if (text === "") return `${title}: idpauth's documentation`;
  const whole = `${title}${/[.?!]$/.test(title) ? "" : "."} ${text}`;
  return title === "" || text.includes(title) || whole.length > LONGEST ? text : whole;
}

/** @param {string} text Markdown */
function plain(text) {
  return (
    text
      .replace(/!?\[((?:[^[\]]|\[[^\]]*\])*)\]\([^)]*\)/g, "$1")
      .replace(/<(https?:[^>]+)>/g, "$1")
      .replace(/\*\*|`|\\(?=[^\w\s])|<\/?\w+[^>]*>/g, "")
      .replace(/\*([^*]+)\*/g, "$1")
      .replace(/\s+/g, " ")
      // VitePress writes a description as it is.
      .replace(/"([^"]*)"/g, "“$1”")
      .trim()
  );
}

/** @param {string} text */
function cut(text) {
  if (text.length <= LONGEST) return text;
  const sentences = text.slice(0, LONGEST).match(/^.*[.!?](?=\s)/)?.[0];
  if (sentences !== undefined && sentences.length >= 40) return sentences;
  return `${text.slice(0, LONGEST - 1).replace(/[\s,;:]*\S*$/, "")}…`;
}

/**
 * The description of a page, from its file.
 *
 * @param {{ filePath: string }} page
 * @param {{ siteConfig: { srcDir: string } }} context
 */
export function described({ filePath }, { siteConfig }) {
  const file = path.join(siteConfig.srcDir, filePath);
  const own = DESCRIPTIONS[filePath];
  return {
    description: own === undefined ? descriptionOf(readFileSync(file, "utf8")) : plain(own),
  };
}

/**
 * What other sites show of a link to the page (Open Graph, and X's cards). An address needs the
 * site's own.
 *
 * @param {{ pageData: { relativePath: string, isNotFound?: boolean }, title: string, description: string }} context
 * @returns {HeadElement[]}
 */
export function shareHead({ pageData, title, description }) {
  const address = `${documentation}/${pageData.relativePath.replace(/(?:(^|\/)index)?\.md$/, (_, slash) => (slash === undefined ? ".html" : slash))}`;
  const image = `${documentation}/social.png`;
  const properties = {
    "og:type": "website",
    "og:site_name": "idpauth",
    "og:title": title,
    "og:description": description,
    "og:image": image,
    "og:image:width": "1200",
    "og:image:height": "630",
    "og:image:alt": "200 requests at once: one token request, and nobody is signed out",
  };
  /** @type {HeadElement[]} */
  const head = [
    ...Object.entries(properties).map(
      ([property, content]) => /** @type {HeadElement} */ (["meta", { property, content }]),
    ),
    ["meta", { name: "twitter:card", content: "summary_large_image" }],
    ["meta", { name: "twitter:title", content: title }],
    ["meta", { name: "twitter:description", content: description }],
    ["meta", { name: "twitter:image", content: image }],
  ];
  if (documentation === "" || pageData.isNotFound === true) return head;
  return [
    ...head,
    ["meta", { property: "og:url", content: address }],
    ["link", { rel: "canonical", href: address }],
  ];
}
