import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";

// One term for one thing, in every page for users, and in the messages and comments of the library. Code, links' targets and
// headings' anchors are not prose.

const ROOT = path.resolve(import.meta.dirname, "../..");

/** Words that prose does not use, with the term that it uses instead. */
const TERMS: readonly (readonly [RegExp, string])[] = [
  [/\bvisitors?\b/gi, "user"],
  [/\b(?<!sister |`)hosts?\b(?! header|=)/gi, "framework, application, or adapter (`Host` header for the header)"],
  [/\b(?:whoever|whomever|nobody|somebody|anybody|everybody|no ?one else)\b/gi, "the user, no process, a client, …: name it"],
  [/\bwhatever\b/gi, "name the thing"],
  [/\bcaps?\b/gi, "session limit"],
  [/\b(?:un)?seal(?:s|ed|ing)?\b/gi, "encrypt"],
  [/\b(?:lies|verdicts?|opinions?)\b/gi, "is stored, or result"],
  [/\bobligations?\b/gi, "requirement"],
  [/\bowe[sd]?\b/gi, "requirement"],
  [/\bcompare[- ]and[- ]set\b/gi, "compare-and-swap"],
  [/\bput right\b/gi, "correct"],
];

/** The parts of src/ whose messages and comments are checked. */
const CHECKED_SOURCE = ["cli", "config", "errors.ts", "provider"];

const pages = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  ...["tutorial", "how-to", "reference", "explanation", "contributing"].flatMap((folder) =>
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

/** The lines of a page without blocks of code, inline code and links' targets. Code becomes a placeholder, so that lines keep their numbers. */
function prose(text: string): string[] {
  return text
    .replace(/^( *)(```+)[^\n]*\n.*?^\1\2$/gms, (block) => block.replace(/[^\n]/g, ""))
    .replace(/<!--.*?-->/gs, (comment) => comment.replace(/[^\n]/g, ""))
    .replace(/(`+)(?!`).+?\1(?!`)/gs, (code) => code.replace(/[^\n]/g, "·"))
    .replace(/\]\([^)]*\)/g, "]")
    .split("\n");
}

/** A module's text with everything but comments and texts of several words removed, so that lines keep their numbers. */
function messagesAndComments(text: string): string {
  const source = ts.createSourceFile("module.ts", text, ts.ScriptTarget.Latest, true);
  const ranges: ts.TextRange[] = [];
  const visit = (node: ts.Node): void => {
    ranges.push(
      ...(ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []),
      ...(ts.getTrailingCommentRanges(text, node.getEnd()) ?? []),
    );
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
    if (isText && node.text.includes(" ")) ranges.push({ pos: node.getStart() + 1, end: node.getEnd() - 1 });
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

function mistakesIn(page: string, text: string): string[] {
  return prose(text).flatMap((line, index) =>
    TERMS.flatMap(([pattern, instead]) =>
      [...line.matchAll(pattern)].map(([word]) => `${page}:${String(index + 1)}: "${word}"; write: ${instead}`),
    ),
  );
}

describe("the words of the documentation", () => {
  it.each(pages)("%s uses the standard terms", (page) => {
    expect(mistakesIn(page, readFileSync(path.join(ROOT, page), "utf8"))).toEqual([]);
  });

  it.each(sources)("the messages and comments of %s use the standard terms", (file) => {
    expect(mistakesIn(file, messagesAndComments(readFileSync(path.join(ROOT, file), "utf8")))).toEqual([]);
  });

  it("finds a mistake in comments, texts and templates, and none in code", () => {
    const text = [
      "const host = 1; // the host",
      "f(`${host} of the visitor`);",
      'g("the caps", host, "visitor");',
      "f(`the \\`visitor\\``);",
    ];
    expect(mistakesIn("x.ts", messagesAndComments(text.join("\n"))).map((mistake) => mistake.split(";")[0])).toEqual([
      'x.ts:1: "host"',
      'x.ts:2: "visitor"',
      'x.ts:3: "caps"',
    ]);
  });

  it.each([
    ["The visitor signs in.", "visitor"],
    ["Each host mounts it.", "host"],
    ["Nobody is signed out.", "Nobody"],
    ["a refresh never lifts the caps", "caps"],
    ["The record is sealed.", "sealed"],
  ])("%s is a mistake", (sentence, word) => {
    expect(mistakesIn("x.md", sentence)).toEqual([expect.stringContaining(`x.md:1: "${word}"`)]);
  });

  it.each([
    'The Host header, `DEMO_HOST` and `session: "host"` are names.',
    "```js\nconst visitor = sealed;\n```",
    "[x](frameworks.md#a-host)",
  ])("%s is none", (sentence) => {
    expect(mistakesIn("x.md", sentence)).toEqual([]);
  });
});
