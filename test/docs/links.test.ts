import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { packFolder } from "../../scripts/pack-package.mjs";
import { stagePackage } from "../../scripts/stage-package.mjs";
import { buildPackage } from "../support/build.js";
import { markdownFiles } from "../support/markdown-files.js";
import { commonAnchorsOf, prose } from "../support/page-anchors.js";

const ROOT = path.resolve(import.meta.dirname, "../..");

/** What is in the tarball, with and without addresses in project.json. */
interface Packed {
  readonly folder: string;
  readonly files: ReadonlySet<string>;
}

await buildPackage();
const folders: string[] = [];
const plain = packed({ repository: "", documentation: "", contact: "" });
const addressed = packed({
  repository: "https://git.example/idpauth/idpauth",
  documentation: "https://idpauth.example",
  contact: "security@idpauth.example",
});

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

function packed(project: Parameters<typeof stagePackage>[1]): Packed {
  const folder = mkdtempSync(path.join(tmpdir(), "idpauth-links-"));
  folders.push(folder);
  stagePackage(folder, project);
  const { files } = packFolder(folder, folder);
  return { folder, files: new Set(files.map((file) => file.path)) };
}

interface Link {
  readonly from: string;
  readonly target: string;
}

const pages = [...plain.files].filter((file) => file.endsWith(".md"));

/** Every page of docs/, by its path in the repository. */
const pagesOfDocs = readdirSync(path.join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".md"))
  .map((file) => `docs/${file}`);

const textOf = (file: string, folder = ROOT) => readFileSync(path.join(folder, file), "utf8");

/** Links and images of every form: inline, by reference, in angle brackets, in HTML. */
function linksOf(from: string, folder?: string): Link[] {
  const text = prose(textOf(from, folder));
  const found = [
    ...text.matchAll(/\]\(\s*<?([^)\s>]+)/g),
    ...text.matchAll(/^ {0,3}\[[^\]]+\]:\s*<?([^\s>]+)/gm),
    ...text.matchAll(/<[a-z]+\s[^>]*?(?:href|src|srcset)=["']?([^"'\s>]+)/gi),
  ];
  return found.map(([, target = ""]) => ({ from, target }));
}

const isInPackage = (file: string) => plain.files.has(file);
const isInRepository = (file: string) => existsSync(path.join(ROOT, file));

/** Why a link leads nowhere, or undefined. */
function mistakeIn({ from, target }: Link, isThere: typeof isInPackage): string | undefined {
  if (/^(https?|mailto):/.test(target)) return undefined;
  const [file = "", anchor] = target.split("#");
  const page =
    file === "" ? from : path.posix.join(path.posix.dirname(from), decodeURIComponent(file));
  if (!isThere(page)) return `${from}: ${target} is missing`;
  if (anchor !== undefined && !commonAnchorsOf(textOf(page)).has(anchor))
    return `${from}: ${target} names no heading`;
  return undefined;
}

const mistakesIn = (links: readonly Link[], isThere = isInPackage) =>
  links.flatMap((link) => mistakeIn(link, isThere) ?? []);

/** The pages that a text names, such as `docs/reference/errors.md#e001`. */
function mentionsIn(file: string, folder?: string): Link[] {
  const found = textOf(file, folder).matchAll(
    /(?<![\w/.-])(?:\.\/)?(docs\/[\w./-]*?\.md(?:#[\w-]+)?)/g,
  );
  return [...found].map(([, target = ""]) => ({ from: "README.md", target }));
}

describe("the package's documentation", () => {
  it("is the README, the security policy and every page of docs/ for users who have installed it", () => {
    const isForOthers =
      /^docs\/(?:index\.md$|about\/(?:compare|evidence|instead-of-a-service)\.md$|explanation\/decisions\.md$|reference\/specification-names\.md$|(?:contributing|migrate|tables)\/)/;
    const docs = pagesOfDocs.filter((file) => !isForOthers.test(file));
    expect([...pages].sort()).toEqual(["README.md", "SECURITY.md", ...docs].sort());
  });

  it.each([
    ["without", plain],
    ["with", addressed],
  ])("has no dead link, image or anchor, %s addresses in project.json", (_, { folder, files }) => {
    expect(files).toEqual(plain.files);
    const links = pages.flatMap((page) => linksOf(page, folder));
    expect(links.length).toBeGreaterThan(500);
    expect(links.some(({ target }) => target.includes("#"))).toBe(true);
    expect(mistakesIn(links)).toEqual([]);
  });

  it("has no comments between its paragraphs, and its tabs are headings", () => {
    const withComments = (folder?: string) =>
      pages.filter((page) => /^<!--/m.test(textOf(page, folder)));
    expect(withComments()).toContain("docs/how-to/guarding.md");
    expect(withComments(plain.folder)).toEqual([]);
    expect(textOf("docs/how-to/guarding.md", plain.folder)).toContain("\n\n#### Koa\n\n```ts\n");
  });

  it("shows the pictures of the site if it has the site's address, and says what they show if not", () => {
    const file = "docs/explanation/security.md";
    expect(textOf(file, addressed.folder)).toContain(
      "![Where everything is](https://idpauth.example/diagrams/where-everything-is.svg)",
    );
    expect(textOf(file, plain.folder)).toContain("*Picture: Where everything is*");
  });

  it("leads to pages of the site and to files of the repository that exist", () => {
    const targets = pages
      .flatMap((page) => linksOf(page, addressed.folder))
      .flatMap(({ target }) => {
        const file = /^https:\/\/git\.example\/idpauth\/idpauth\/blob\/v[\d.]+\/(.*)/.exec(target);
        const page = /^https:\/\/idpauth\.example\/(.+)\.html(#.*)?$/.exec(target);
        if (page) return `docs/${page[1]!}.md${page[2] ?? ""}`;
        return file?.[1] ?? [];
      });
    expect(targets.length).toBeGreaterThan(50);
    const links = targets.map((target) => ({ from: "README.md", target }));
    expect(mistakesIn(links, isInRepository)).toEqual([]);
  });

  it("has every page that a page, an error, a remedy or a docstring names, also without a link", () => {
    const sources = readdirSync(path.join(ROOT, "src"), {
      recursive: true,
      encoding: "utf8",
    }).filter((file) => file.endsWith(".ts"));
    const mentions = [
      ...pages.flatMap((page) => mentionsIn(page, plain.folder)),
      ...sources.flatMap((file) => mentionsIn(path.posix.join("src", file))),
    ];
    expect(mentions.length).toBeGreaterThan(10);
    expect(mistakesIn(mentions)).toEqual([]);
  });
});

describe("the repository's documentation", () => {
  it("has no link, image or anchor that points nowhere", () => {
    const links = markdownFiles().flatMap((file) => linksOf(file));
    expect(links.length).toBeGreaterThan(500);
    expect(mistakesIn(links, isInRepository)).toEqual([]);
    // GitLab makes one hyphen of several in an anchor.
    expect(links.filter(({ target }) => /#.*--/.test(target))).toEqual([]);
  });
});

describe("a link", () => {
  it.each([
    ["CONTRIBUTING.md", "README.md: CONTRIBUTING.md is missing"],
    ["../test/x.md", "README.md: ../test/x.md is missing"],
    ["docs", "README.md: docs is missing"],
    ["docs/screenshots/soak.svg", "README.md: docs/screenshots/soak.svg is missing"],
    [
      "docs/reference/errors.md#no-such-heading",
      "README.md: docs/reference/errors.md#no-such-heading names no heading",
    ],
    ["#no-such-heading", "README.md: #no-such-heading names no heading"],
    // On the site, it's a tab.
    ["docs/how-to/guarding.md#koa", "README.md: docs/how-to/guarding.md#koa names no heading"],
  ])("to %s is an error", (target, mistake) => {
    expect(mistakeIn({ from: "README.md", target }, isInPackage)).toBe(mistake);
  });

  it.each([
    "docs/reference/errors.md",
    "docs/reference/errors.md#e001",
    "#quick-start",
    "https://openid.net/",
    "LICENSE",
  ])("to %s is none", (target) => {
    expect(mistakeIn({ from: "README.md", target }, isInPackage)).toBeUndefined();
  });
});
