import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

// One term for one thing, in every page; the tables of settings and errors have the library's own
// messages. Code, links' targets and headings' anchors are not prose.

const ROOT = path.resolve(import.meta.dirname, "../..");

/** Words that prose does not use, with the term that it uses instead. */
const TERMS: readonly (readonly [word: RegExp, instead: string])[] = [
  [/\bvisitors?\b/gi, "user"],
  [/\bcaps?\b/gi, "session limit"],
  [/\b(?:un)?seal(?:s|ed|ing)?\b/gi, "encrypt"],
  [/\bcompare[- ]and[- ]set\b/gi, "compare-and-swap"],
  [
    /\b(?<!sister |`)hosts?\b(?! header|=)/gi,
    "framework, application, or adapter (`Host` header for the header)",
  ],
];

const pages = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  ...[
    "about",
    "deploy",
    "start",
    "tutorial",
    "how-to",
    "migrate",
    "providers",
    "reference",
    "tables",
    "explanation",
    "contributing",
  ].flatMap((folder) =>
    readdirSync(path.join(ROOT, "docs", folder)).map((name) => `docs/${folder}/${name}`),
  ),
].filter((page) => page.endsWith(".md"));

/**
 * The lines of a page without blocks of code, inline code and links' targets. Code becomes a
 * placeholder, so that lines keep their numbers.
 */
function prose(text: string): string[] {
  return text
    .replace(/^( *)(```+)[^\n]*\n.*?^\1\2$/gms, (block) => block.replace(/[^\n]/g, ""))
    .replace(/<!--.*?-->/gs, (comment) => comment.replace(/[^\n]/g, ""))
    .replace(/(`+)(?!`).+?\1(?!`)/gs, (code) => code.replace(/[^\n]/g, "·"))
    .replace(/\]\([^)]*\)/g, "]")
    .split("\n");
}

function mistakesIn(page: string, text: string): string[] {
  return prose(text).flatMap((line, index) =>
    TERMS.flatMap(([pattern, instead]) =>
      [...line.matchAll(pattern)].map(
        ([word]) => `${page}:${String(index + 1)}: "${word}"; write: ${instead}`,
      ),
    ),
  );
}

describe("the words of the documentation", () => {
  it.each(pages)("%s uses the standard terms", (page) => {
    expect(mistakesIn(page, readFileSync(path.join(ROOT, page), "utf8"))).toEqual([]);
  });

  it.each([
    ["The visitor signs in.", "visitor"],
    ["Each host mounts it.", "host"],
    ["a refresh never lifts the caps", "caps"],
    ["The record is sealed.", "sealed"],
  ])("%s is an error", (sentence, word) => {
    expect(mistakesIn("x.md", sentence)).toEqual([expect.stringContaining(`x.md:1: "${word}"`)]);
  });
});
