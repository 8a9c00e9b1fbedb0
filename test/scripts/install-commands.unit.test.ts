import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { pageWithCommands, withCommands } from "../../scripts/install-commands.mjs";
import { messageWithLinks, pageWithLinks, printedTarball } from "../../scripts/project-links.mjs";
import { withoutBuildComments } from "../../scripts/site-pages.mjs";
import { markdownFiles } from "../support/markdown-files.js";

// Nobody has published the package yet, so its name on npm is free: whoever takes it would run code
// in the shell of everybody who copies a command.

const ROOT = path.resolve(import.meta.dirname, "../..");
const PROJECT = {
  repository: "https://git.example/idpauth/idpauth",
  documentation: "https://idpauth.example",
  contact: "security@idpauth.example",
};
const NONE = { repository: "", documentation: "", contact: "" };
const TARBALL = "idpauth-1.2.3.tgz";
const read = (file: string) => readFileSync(path.join(ROOT, file), "utf8");
const files = markdownFiles();

/** What takes the package from somewhere that it isn't: a registry, a CDN, an image. */
const BY_NAME =
  /\b(?:npm (?:i|in|install|add|exec|create|init)|npx|yarn(?: add| dlx)?|pnpm (?:add|dlx|install)|bunx?(?: add| x)?|deno add)(?: +(?!--no\b)-\S+)* +(?:npm:|jsr:)?(?:create-)?idpauth(?![\w-]|@latest && npm audit)|npm:idpauth|(?:unpkg\.com|jsdelivr\.net|esm\.sh|skypack\.dev|npmjs\.com)\S*\bidpauth|docker (?:pull|run)\b.*\bidpauth/g;

/** What only a reader of a public repository can do. */
const PUBLIC =
  /open an issue|(?:send|file|submit) (?:a|the|us a|it\]\(\S*)\s*(?:bug )?report|tests\b[^.]{0,40}\brun\s+yourself|git clone https|github\.com\/idpauth/gi;

/** The text files of a folder that aren't pages. */
function sourcesBelow(folder: string): string[] {
  return readdirSync(path.join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const file = path.posix.join(folder, entry.name);
    if (entry.isDirectory())
      return /^(?:node_modules|dist|\.next|pages)$/.test(entry.name) ? [] : sourcesBelow(file);
    return /\.(?:[cm]?[jt]sx?|json|ya?ml|html|vue|sh|lua|example)$|^Dockerfile/.test(entry.name)
      ? [file]
      : [];
  });
}

describe.each([
  ["README.md", "docs/about/project.md", "your app's folder"],
  ["docs/start/express.md", "../about/project.md", "your app's folder"],
  ["examples/koa/README.md", "../../docs/about/project.md", "root folder"],
])("the commands of %s", (file, explanation, place) => {
  const source = "<!-- tarball -->\n\n```sh\nnpm install idpauth koa\n```\n\nRun `npx idpauth check`.\n"; // prettier-ignore

  it("install the tarball until the project has addresses, after a sentence where it comes from", () => {
    const text = pageWithCommands(source, file, TARBALL);
    expect(text).toContain("```sh\nnpm install ./idpauth-1.2.3.tgz koa\n```");
    expect(text).toContain("`npx --no idpauth check`");
    expect(text).toContain(`(${explanation}#before-the-first-release)`);
    expect(text.indexOf("npm run pack")).toBeLessThan(text.indexOf("npm install"));
    expect(text).toContain(place);
  });

  it("are the short ones afterwards, and go back and forth", () => {
    const text = pageWithCommands(source, file, TARBALL);
    expect(pageWithCommands(text, file, undefined)).toBe(source);
    expect(pageWithCommands(text, file, TARBALL)).toBe(text);
    expect(pageWithCommands(text, file, "idpauth-2.0.0.tgz")).toBe(
      pageWithCommands(source, file, "idpauth-2.0.0.tgz"),
    );
  });
});

it.each([
  ["npx idpauth provider --port=9401", "npx --no idpauth provider --port=9401"],
  ["<code>npx idpauth provider</code>", "<code>npx --no idpauth provider</code>"],
  ["this command prints: npx idpauth provider.", "this command prints: npx --no idpauth provider."],
  ["`npm install idpauth`", "`npm install ./idpauth-1.2.3.tgz`"],
  [
    "npm install --save-dev idpauth-conformance",
    "npm install --save-dev ./idpauth-1.2.3.tgz ./idpauth-conformance-1.2.3.tgz",
  ],
  ["npm install idpauth # for Deno", "npm install ./idpauth-1.2.3.tgz # for Deno"],
  ["npm install idpauth-example idpauth/express", "npm install idpauth-example idpauth/express"],
])("the message %j is %j", (short, long) => {
  expect(withCommands(short, TARBALL)).toBe(long);
  expect(withCommands(long, undefined)).toBe(short);
});

it("an image gets the tarball before it installs, and an example installs it without a change to its package.json", () => {
  const image = (file: string) => `COPY package.json package-lock.json${file} ./\n`;
  expect(pageWithCommands(image(""), "docs/x.md", TARBALL)).toBe(image(` ${TARBALL}`));
  expect(pageWithCommands(image(` ${TARBALL}`), "docs/x.md", undefined)).toBe(image(""));
  const example = (packed: string) => `npm install${packed}\nnpm start\n`;
  const packed = ` --no-save ../../release/${TARBALL}`;
  expect(pageWithCommands(example(""), "examples/x/README.md", TARBALL)).toBe(example(packed));
  expect(pageWithCommands(example(packed), "examples/x/README.md", undefined)).toBe(example(""));
});

it("the package counts as published once project.json has each address", () => {
  expect(printedTarball(NONE, "1.2.3")).toBe(TARBALL);
  expect(printedTarball({ ...PROJECT, contact: "" }, "1.2.3")).toBe(TARBALL);
  expect(printedTarball(PROJECT, "1.2.3")).toBeUndefined();
});

describe("no page prints what nobody can do today", () => {
  it.each(files)("%s, before the addresses", (file) => {
    const text = withoutBuildComments(pageWithLinks(read(file), file, NONE, "1.2.3"));
    expect(text.match(BY_NAME)).toBeNull();
    if (!/^docs\/(?:explanation\/decisions|contributing)|^CONTRIBUTING|^CHANGELOG/.test(file))
      expect(text.match(PUBLIC)).toBeNull();
  });

  it.each(files)("%s, with the addresses, has nothing of the time before", (file) => {
    const text = withoutBuildComments(pageWithLinks(read(file), file, PROJECT, "1.2.3"));
    expect(text.match(/idpauth-\S+\.tgz|npx --no idpauth|isn't on npm|no public repository|repository isn't public/g)).toBeNull(); // prettier-ignore
  });

  const printing = files.filter((file) =>
    /\bnpm install (?:--no-save |--save-dev )?\S*idpauth-\S+\.tgz/.test(read(file)),
  );
  it.each(printing)("%s says before its first command where the tarball comes from", (file) => {
    const text = pageWithLinks(read(file), file, NONE, "1.2.3");
    const command = /\bnpm install (?:--no-save |--save-dev )?\S*idpauth-\S+\.tgz/.exec(text);
    expect(text.slice(0, command?.index)).toContain("isn't on npm yet");
    expect(text.slice(0, command?.index)).toContain("npm run pack");
  });

  // The package has the sources too, and editors show the comments of the types.
  it("messages and comments of the package print no command that takes it from a registry", () => {
    const taken = sourcesBelow("src").flatMap((file) => {
      const text = messageWithLinks(read(file), NONE, "1.2.3");
      return [...text.matchAll(BY_NAME)].map(([command]) => `${file}: ${command}`);
    });
    expect(taken).toEqual([]);
  });

  it("neither does what the examples, the snippets and the site contain besides their pages", () => {
    const taken = ["examples", "docs/snippets", "site"]
      .flatMap(sourcesBelow)
      .flatMap((file) =>
        [...read(file).matchAll(BY_NAME)].map(([command]) => `${file}: ${command}`),
      );
    expect(taken).toEqual([]);
  });
});
