import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { SITE_ONLY } from "../../scripts/project-links.mjs";
import { anchorsOf, prose } from "../support/page-anchors.js";

// The package names no repository, so a link that leaves the tarball leads nowhere, except to a
// page of the site: `npm run release` replaces these links by addresses. The list of files is npm's
// own.

const ROOT = path.resolve(import.meta.dirname, "../..");

/** Only contributors need this page, so the package does not contain it. */
const DECISIONS = "docs/explanation/decisions.md";

/** The files of the tarball, by their paths in it. */
const shipped = new Set(
  (
    JSON.parse(
      execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
        cwd: ROOT,
        encoding: "utf8",
      }),
    ) as Pack[]
  ).flatMap(({ files }) => files.map((file) => file.path)),
);

interface Pack {
  readonly files: readonly { readonly path: string }[];
}

interface Link {
  readonly from: string;
  readonly target: string;
}

const pages = [...shipped].filter((file) => file.endsWith(".md"));

/** Every page of docs/, by its path in the repository. */
const pagesOfDocs = readdirSync(path.join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".md"))
  .map((file) => `docs/${file}`);

function textOf(file: string): string {
  return readFileSync(path.join(ROOT, file), "utf8");
}

/** Links and images of every form: inline, by reference, in angle brackets, in HTML. */
function linksOf(from: string): Link[] {
  const text = prose(textOf(from));
  const found = [
    ...text.matchAll(/\]\(\s*<?([^)\s>]+)/g),
    ...text.matchAll(/^ {0,3}\[[^\]]+\]:\s*<?([^\s>]+)/gm),
    ...text.matchAll(/<[a-z]+\s[^>]*?(?:href|src|srcset)=["']?([^"'\s>]+)/gi),
  ];
  return found.map(([, target = ""]) => ({ from, target }));
}

function isShippedOrOnSite(file: string): boolean {
  return shipped.has(file) || (SITE_ONLY.test(file) && existsSync(path.join(ROOT, file)));
}

/** Why a link leads nowhere, or undefined. */
function mistakeIn({ from, target }: Link, isThere = isShippedOrOnSite): string | undefined {
  if (/^(https?|mailto):/.test(target)) return undefined;
  const [file = "", anchor] = target.split("#");
  const page =
    file === "" ? from : path.posix.join(path.posix.dirname(from), decodeURIComponent(file));
  if (!isThere(page)) return `${from}: ${target} is not in the package`;
  if (anchor !== undefined && !anchorsOf(textOf(page)).has(anchor))
    return `${from}: ${target} names no heading`;
  return undefined;
}

const mistakesIn = (links: readonly Link[], isThere?: (file: string) => boolean) =>
  links.flatMap((link) => mistakeIn(link, isThere) ?? []);

/** The pages that a text names, such as `docs/reference/errors.md#e001`. */
function mentionsIn(file: string): Link[] {
  const found = textOf(file).matchAll(/(?<![\w/.-])(?:\.\/)?(docs\/[\w./-]*?\.md(?:#[\w-]+)?)/g);
  return [...found].map(([, target = ""]) => ({ from: "README.md", target }));
}

describe("the package's documentation", () => {
  it("is the README, the security policy and every page of docs/ for users", () => {
    const isForUsers = (file: string) =>
      /^docs\/(?:how-to|reference|explanation)\//.test(file) &&
      file !== DECISIONS &&
      !SITE_ONLY.test(file);
    const docs = pagesOfDocs.filter(isForUsers);
    expect([...pages].sort()).toEqual(["README.md", "SECURITY.md", ...docs].sort());
    const others = pagesOfDocs.filter((file) => !docs.includes(file) && file !== DECISIONS);
    expect(
      others.filter(
        (file) =>
          !SITE_ONLY.test(file) &&
          !/^docs\/(?:index\.md$|(?:contributing|evidence|tables)\/)/.test(file),
      ),
    ).toEqual([]);
  });

  it("has no link, image or anchor that points out of the package", () => {
    const links = pages.flatMap(linksOf);
    expect(links.length).toBeGreaterThan(80);
    expect(links.some(({ target }) => target.includes("#"))).toBe(true);
    expect(mistakesIn(links)).toEqual([]);
  });

  it("has every page that a page, an error, a remedy or a docstring names, also without a link", () => {
    const sources = readdirSync(path.join(ROOT, "src"), {
      recursive: true,
      encoding: "utf8",
    }).filter((file) => file.endsWith(".ts"));
    const code = [
      ...sources.map((file) => path.posix.join("src", file)),
      ...[...shipped].filter((file) => /\.(js|d\.ts)$/.test(file)),
    ];
    const mentions = [...pages, ...code].flatMap(mentionsIn);
    expect(mentions.length).toBeGreaterThan(10);
    expect(mistakesIn(mentions)).toEqual([]);
  });
});

describe("the repository's documentation", () => {
  const others = ["CONTRIBUTING.md", ...pagesOfDocs].filter((file) => !shipped.has(file));

  it("has no link, image or anchor that points nowhere", () => {
    const links = others.flatMap(linksOf);
    expect(links.length).toBeGreaterThan(20);
    expect(mistakesIn(links, (file) => existsSync(path.join(ROOT, file)))).toEqual([]);
  });
});

describe("a link", () => {
  it.each([
    ["CONTRIBUTING.md", "README.md: CONTRIBUTING.md is not in the package"],
    ["../test/x.md", "README.md: ../test/x.md is not in the package"],
    ["docs", "README.md: docs is not in the package"],
    ["docs/screenshots/soak.svg", "README.md: docs/screenshots/soak.svg is not in the package"],
    [
      "docs/reference/errors.md#no-such-heading",
      "README.md: docs/reference/errors.md#no-such-heading names no heading",
    ],
    ["#no-such-heading", "README.md: #no-such-heading names no heading"],
  ])("to %s is an error", (target, mistake) => {
    expect(mistakeIn({ from: "README.md", target })).toBe(mistake);
  });

  it.each([
    "docs/reference/errors.md",
    "docs/reference/errors.md#e001",
    "#quick-start",
    "https://openid.net/",
    "LICENSE",
  ])("to %s is none", (target) => {
    expect(mistakeIn({ from: "README.md", target })).toBeUndefined();
  });
});
