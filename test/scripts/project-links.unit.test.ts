import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { isShipped } from "../../scripts/entries.mjs";
import {
  manifestWithLinks,
  messageWithLinks,
  missingAddresses,
  pageWithLinks,
} from "../../scripts/project-links.mjs";

const ROOT = path.resolve(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(path.join(ROOT, file), "utf8");

/** Addresses that cannot exist (RFC 2606). */
const PROJECT = {
  repository: "https://git.example/idpauth/idpauth",
  documentation: "https://idpauth.example",
  contact: "security@idpauth.example",
};
const NONE = { repository: "", documentation: "", contact: "" };
const FILES = "https://git.example/idpauth/idpauth/blob/v1.2.3";

describe("the addresses in project.json", () => {
  it("are all missing if they are empty", () => {
    expect(missingAddresses({ repository: "", documentation: "", contact: "" })).toEqual([
      'project.json: "repository" is empty',
      'project.json: "documentation" is empty',
      'project.json: "contact" is empty',
    ]);
  });
});

describe("without addresses", () => {
  it.each([
    [
      "docs/about/evidence.md",
      "See [the `list` [1]](../evidence/security.json).",
      "See the `list` [1].",
    ],
    ["docs/about/evidence.md", "![A chart](../screenshots/soak.svg)", "*Picture: A chart*"],
    ["docs/about/project.md", "[x](support.md#y) [z](#z)", "[x](support.md#y) [z](#z)"],
    [
      "README.md",
      "[CSRF](docs/how-to/csrf.md), [L](LICENSE)",
      "[CSRF](docs/how-to/csrf.md), [L](LICENSE)",
    ],
    ["docs/how-to/csrf.md", "In the repository, x.", "In the repository, x."],
  ])("%s: a link of %j to what isn't in the package is text", (file, text, expected) => {
    expect(pageWithLinks(text, file, NONE, "1.2.3", isShipped)).toBe(expected);
  });

  it.each([
    [
      "See docs/reference/errors.md#e016.",
      "See node_modules/idpauth/docs/reference/errors.md#e016.",
    ],
    [
      "`See docs/reference/errors.md#${code}`",
      "`See node_modules/idpauth/docs/reference/errors.md#${code}`",
    ],
    ["(docs/providers/index.md)", "(node_modules/idpauth/docs/providers/index.md)"],
    ["https://x.example/docs/reference/errors.md", "https://x.example/docs/reference/errors.md"],
    ["docs/contributing/grammar.md", "docs/contributing/grammar.md"],
  ])("the message %j becomes %j", (text, expected) => {
    expect(messageWithLinks(text, NONE, "1.2.3")).toBe(expected);
  });
});

describe("with addresses", () => {
  it("package.json names the repository, the home page and where to report bugs, and keeps the rest", () => {
    const manifest = JSON.parse(read("package.json")) as Record<string, unknown>;
    expect(manifestWithLinks(manifest, PROJECT)).toEqual({
      ...manifest,
      homepage: "https://idpauth.example",
      repository: { type: "git", url: "git+https://git.example/idpauth/idpauth.git" },
      bugs: { url: "https://git.example/idpauth/idpauth/issues" },
    });
  });

  it.each([
    [
      "README.md",
      "[CSRF](docs/how-to/csrf.md#own-routes)",
      "[CSRF](https://idpauth.example/how-to/csrf.html#own-routes)",
    ],
    ["README.md", "[policy](SECURITY.md)", `[policy](${FILES}/SECURITY.md)`],
    [
      "README.md",
      "[quick start](#quick-start), [x](https://x.example/a.md)",
      "[quick start](#quick-start), [x](https://x.example/a.md)",
    ],
    [
      "README.md",
      "```md\n[CSRF](docs/how-to/csrf.md)\n```",
      "```md\n[CSRF](docs/how-to/csrf.md)\n```",
    ],
    [
      "docs/how-to/csrf.md",
      "[x](sessions.md) [y](../reference/errors.md#e001)",
      "[x](sessions.md) [y](../reference/errors.md#e001)",
    ],
    ["docs/about/evidence.md", "[x](../../test/stores)", `[x](${FILES}/test/stores)`],
    [
      "README.md",
      "![A chart](docs/diagrams/x.svg)",
      "![A chart](https://idpauth.example/diagrams/x.svg)",
    ],
    [
      "docs/how-to/csrf.md",
      "In the\nrepository, x.",
      "In [the\nrepository](https://git.example/idpauth/idpauth), x.",
    ],
    [
      "docs/how-to/csrf.md",
      "The repository's folder `src/a/` x",
      `[The repository's folder \`src/a/\`](${FILES}/src/a) x`,
    ],
    [
      "docs/how-to/csrf.md",
      "[the repository](../x.md) `of the repository`",
      "[the repository](../x.md) `of the repository`",
    ],
    ["docs/how-to/csrf.md", "## In the repository", "## In the repository"],
  ])("%s: %j gets its links", (file, text, expected) => {
    expect(pageWithLinks(text, file, PROJECT, "1.2.3")).toBe(expected);
  });

  it.each([
    ["docs/contributing/grammar.md", "https://idpauth.example/contributing/grammar.html"],
    ["docs/evidence/security.json", `${FILES}/docs/evidence/security.json`],
    ["docs/diagrams/sign-in.svg", "https://idpauth.example/diagrams/sign-in.svg"],
    ["docs/tables/errors.md", `${FILES}/docs/tables/errors.md`],
    ["CONTRIBUTING.md", `${FILES}/CONTRIBUTING.md`],
  ])("a link to %s, which the package leaves out, leads to %s", (target, address) => {
    const text = `See [the \`list\` [1]](../../${target}#x).`;
    expect(pageWithLinks(text, "docs/about/evidence.md", PROJECT, "1.2.3", () => false)).toBe(
      `See [the \`list\` [1]](${address}#x).`,
    );
  });

  it("the security policy names the form and the contact", () => {
    const text = pageWithLinks(read("SECURITY.md"), "SECURITY.md", PROJECT, "1.2.3");
    expect(text).toContain(
      '["Report a vulnerability" form](https://git.example/idpauth/idpauth/security/advisories/new)',
    );
    expect(text).toContain(
      "or write to [security@idpauth.example](mailto:security@idpauth.example).",
    );
  });

  it("a contact that's a page is a link to it", () => {
    const project = { ...PROJECT, contact: "https://idpauth.example/contact" };
    const text = pageWithLinks(read("SECURITY.md"), "SECURITY.md", project, "1.2.3");
    expect(text).toContain("[idpauth.example/contact](https://idpauth.example/contact).");
  });

  it.each([
    ["", "One.\n\nTwo."],
    ["\nNow. [x](#x)\n", "One.\n\nNow. [x](#x)\n\nTwo."],
  ])("a text for the time before them becomes what follows it: %j", (then, expected) => {
    const text = `One.\n\n<!-- without addresses -->\n\nNot yet.\n\n<!-- with addresses:${then}-->\n\nTwo.`;
    expect(pageWithLinks(text, "docs/about/x.md", PROJECT, "1.2.3")).toBe(expected);
    expect(pageWithLinks(text, "docs/about/x.md", NONE, "1.2.3")).toBe("One.\n\nNot yet.\n\nTwo.");
  });

  it("what a command prints in a sample is what the package prints", () => {
    const text = "```text\n  E016 x\n       See docs/reference/errors.md#e016\n```\n";
    const shown = (project: typeof NONE) =>
      pageWithLinks(text, "docs/how-to/x.md", project, "1.2.3");
    expect(shown(PROJECT)).toBe(text.replace(/docs.*/, "https://idpauth.example/e/E016"));
    expect(shown(NONE)).toBe(text.replace("docs", "node_modules/idpauth/docs"));
  });

  it("the README has no link that works only in the repository", () => {
    const text = pageWithLinks(read("README.md"), "README.md", PROJECT, "1.2.3");
    const targets = Array.from(text.matchAll(/\]\(([^)]+)\)/g), ([, target = ""]) => target);
    expect(targets.length).toBeGreaterThan(20);
    expect(targets.filter((target) => !/^(?:https:|#)/.test(target))).toEqual([]);
  });

  it.each([
    ["See docs/reference/errors.md#e016.", "See https://idpauth.example/e/E016."],
    ["`See docs/reference/errors.md#${code}`", "`See https://idpauth.example/e/${code}`"],
    ["docs/reference/errors.md#step_up_failed", "https://idpauth.example/e/step_up_failed"],
    ["docs/reference/errors.md has them", "https://idpauth.example/reference/errors.html has them"],
    [
      "See docs/how-to/step-up.md#google.",
      "See https://idpauth.example/how-to/step-up.html#google.",
    ],
    ["https://x.example/docs/reference/errors.md", "https://x.example/docs/reference/errors.md"],
    ["docs/contributing/grammar.md", "docs/contributing/grammar.md"],
  ])("the message %j becomes %j", (text, expected) => {
    expect(messageWithLinks(text, PROJECT, "1.2.3")).toBe(expected);
  });
});
