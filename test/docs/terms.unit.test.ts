import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";

// One term for one thing, in every page for users, and in the messages and comments of the library.
// Code, links' targets and headings' anchors are not prose.

const ROOT = path.resolve(import.meta.dirname, "../..");

type Term = readonly [word: RegExp, instead: string];

/** Words that prose does not use, with the term that it uses instead. */
const TERMS: readonly Term[] = [
  [/\bvisitors?\b/gi, "user"],
  [/\bwhatever\b/gi, "name the thing"],
  [/\bcaps?\b/gi, "session limit"],
  [/\b(?:un)?seal(?:s|ed|ing)?\b/gi, "encrypt"],
  [/\b(?:lies|verdicts?|opinions?)\b/gi, "is stored, or result"],
  [/\bobligations?\b/gi, "requirement"],
  [/\bowe[sd]?\b/gi, "requirement"],
  [/\bcompare[- ]and[- ]set\b/gi, "compare-and-swap"],
  [/\bput right\b/gi, "correct"],
  [
    /\b(?<!sister |`)hosts?\b(?! header|=)/gi,
    "framework, application, or adapter (`Host` header for the header)",
  ],
];

/**
 * Patterns that sound translated, with how often the pages for users may have them. The numbers
 * only fall: whoever removes some lowers the number.
 */
const CEILINGS: readonly (readonly [pattern: RegExp, most: number, instead: string])[] = [
  [/(?:^|[.:!?] )So /gm, 1, "the reason in the same sentence: X, so Y"],
  [
    /\bat (?:the|a|an|each|every|any) (?:sign-in|sign-out|refresh|request|login|logout|startup)\b/gi,
    0,
    "when a user signs in, during a refresh",
  ],
  [/\b(?:the start (?:fails|logs|stops)|stops? the start)\b/gi, 0, "the app doesn't start"],
  [
    /\b(?:sends?|signs? out|changes?|loses?|shows?|causes?|writes?|reads?|(?<!there )is) no (?!longer\b|more\b|one\b)\w+/gi,
    8,
    "doesn't send anything",
  ],
  [
    /\b(?:need not|it is necessary|nevertheless|meanwhile|anew)\b/gi,
    0,
    "you don't need to, at the same time, again",
  ],
  [/\b(?:(?:is|are|as) (?:a )?text|is no text)\b/gi, 3, "string"],
  [
    /\bmade-up\b|\badmits?\b|\bfrom before\b|\bearlier user\b/gi,
    2,
    "fake, allow, the existing session, a different user",
  ],
];

/** The parts of src/ whose messages and comments are checked. */
const CHECKED_SOURCE = ["cli", "config", "errors.ts", "provider"];

const PAGES_FOR_USERS = [
  "about",
  "deploy",
  "start",
  "tutorial",
  "how-to",
  "migrate",
  "providers",
  "reference",
  "explanation",
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

const sources = CHECKED_SOURCE.flatMap((part) =>
  part.endsWith(".ts")
    ? [`src/${part}`]
    : readdirSync(path.join(ROOT, "src", part), { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".ts"))
        .map((name) => `src/${part}/${name.replaceAll(path.sep, "/")}`),
);

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

/**
 * A module's text with everything but comments and texts of several words removed, so that lines
 * keep their numbers.
 */
function messagesAndComments(text: string): string {
  const source = ts.createSourceFile("module.ts", text, ts.ScriptTarget.Latest, true);
  const ranges: ts.TextRange[] = [];
  const visit = (node: ts.Node): void => {
    ranges.push(
      ...(ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []),
      ...(ts.getTrailingCommentRanges(text, node.getEnd()) ?? []),
    );
    const isText =
      ts.isStringLiteralLike(node) ||
      ts.isTemplateHead(node) ||
      ts.isTemplateMiddleOrTemplateTail(node);
    if (isText && node.text.includes(" "))
      ranges.push({ pos: node.getStart() + 1, end: node.getEnd() - 1 });
    ts.forEachChild(node, visit);
  };
  visit(source);
  let kept = text.replace(/[^\n]/g, " ");
  for (const { pos, end } of ranges)
    kept =
      kept.slice(0, pos) +
      text
        .slice(pos, end)
        .replaceAll("\\`", "`")
        .padStart(end - pos) +
      kept.slice(end);
  return kept;
}

function mistakesIn(page: string, text: string, terms = TERMS): string[] {
  return prose(text).flatMap((line, index) =>
    terms.flatMap(([pattern, instead]) =>
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

  it.each(sources)("the messages and comments of %s use the standard terms", (file) => {
    expect(
      mistakesIn(file, messagesAndComments(readFileSync(path.join(ROOT, file), "utf8"))),
    ).toEqual([]);
  });

  it.each(CEILINGS)("the pages for users have %s at most %i times", (pattern, most, instead) => {
    const found = pages
      .filter(
        (page) =>
          page === "README.md" ||
          PAGES_FOR_USERS.some((folder) => page.startsWith(`docs/${folder}/`)),
      )
      .flatMap((page) =>
        mistakesIn(page, readFileSync(path.join(ROOT, page), "utf8"), [[pattern, instead]]),
      );
    expect(found.length, found.join("\n")).toBeLessThanOrEqual(most);
  });

  it("finds a banned word in comments, strings and templates, and none in code", () => {
    const text = [
      "const host = 1; // the host",
      "f(`${host} of the visitor`);",
      'g("the caps", host, "visitor");',
      "f(`the \\`visitor\\``);",
    ];
    expect(
      mistakesIn("x.ts", messagesAndComments(text.join("\n"))).map(
        (mistake) => mistake.split(";")[0],
      ),
    ).toEqual(['x.ts:1: "host"', 'x.ts:2: "visitor"', 'x.ts:3: "caps"']);
  });

  it.each([
    ["The visitor signs in.", "visitor"],
    ["Each host mounts it.", "host"],
    ["a refresh never lifts the caps", "caps"],
    ["The record is sealed.", "sealed"],
  ])("%s is an error", (sentence, word) => {
    expect(mistakesIn("x.md", sentence)).toEqual([expect.stringContaining(`x.md:1: "${word}"`)]);
  });

  it.each([
    'The Host header, `HOST` and `session: "host"` are names.',
    "```js\nconst visitor = sealed;\n```",
    "[x](frameworks.md#a-host)",
    "Nobody is signed out, and anybody can tell.",
  ])("%s is none", (sentence) => {
    expect(mistakesIn("x.md", sentence)).toEqual([]);
  });
});
