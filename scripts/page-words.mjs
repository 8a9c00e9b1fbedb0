// Counts the words that a reader of docs/ reads: prose and tables, without code blocks, addresses
// and comments. docs/contributing/architecture.md has the limit.
//   node scripts/page-words.mjs            one line for each folder
//   node scripts/page-words.mjs --pages    one line for each page
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./run.mjs";

/**
 * What nobody reads from beginning to end, and isn't part of the limit: the reference, the texts
 * that the reference is generated from, and the tables of results.
 */
const LOOKED_UP = /^(?:reference|tables)\//;

/** @typedef {{ page: string, words: number, counts: boolean }} PageWords */

/**
 * @param {string} checkout
 * @returns {PageWords[]}
 */
export function pageWords(checkout) {
  const docs = path.join(checkout, "docs");
  return readdirSync(docs, { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll(path.sep, "/"))
    .filter((file) => file.endsWith(".md"))
    .toSorted()
    .map((page) => ({
      page,
      words: wordsOf(readFileSync(path.join(docs, page), "utf8"), page.startsWith("evidence/")),
      counts: !LOOKED_UP.test(page),
    }));
}

/**
 * @param {string} markdown
 * @param {boolean} withoutTables
 * @returns {number}
 */
export function wordsOf(markdown, withoutTables = false) {
  const text = markdown
    .replace(/<!--[\s\S]*?-->/g, "")
    .replace(/^( *)(`{3,}).*\n[\s\S]*?^\1\2 *$/gm, "")
    .replace(/\]\([^)]*\)/g, "]")
    .replace(withoutTables ? /^ *\|.*$/gm : /^ *\|[\s:|-]+\|$/gm, "");
  return text.match(/[\p{L}\p{N}](?:\S*[\p{L}\p{N}])?/gu)?.length ?? 0;
}

/** @param {readonly PageWords[]} pages */
export function wordTable(pages) {
  /** @type {Map<string, number>} */
  const folders = new Map();
  for (const { page, words } of pages) {
    const folder = page.includes("/") ? page.slice(0, page.indexOf("/")) : ".";
    folders.set(folder, (folders.get(folder) ?? 0) + words);
  }
  const counted = pages.filter(({ counts }) => counts).reduce((sum, { words }) => sum + words, 0);
  return [
    "| Folder of `docs/` | Words |\n|---|---|",
    ...[...folders].map(([folder, words]) => `| \`${folder}\` | ${words} |`),
    `\nWords outside \`reference/\` and \`tables/\`, without code and without the tables of \`evidence/\`: ${counted}.`,
  ].join("\n");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const pages = pageWords(root);
  if (process.argv.includes("--pages"))
    for (const { page, words } of pages) console.log(`${String(words).padStart(6)} ${page}`);
  else console.log(wordTable(pages));
}
