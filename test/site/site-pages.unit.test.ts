import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  llmsGroups,
  llmsIndex,
  withoutBuildComments,
  withPolicy,
  withSiteLinks,
} from "../../scripts/site-pages.mjs";

it("the policy allows the page's inline scripts by their hashes, and scripts of the site", () => {
  const html =
    '<html><head><script>go();</script><script type="module" src="/app.js"></script></head></html>';
  const hash = createHash("sha256").update("go();").digest("base64");
  expect(withPolicy(html)).toContain(`script-src 'self' 'sha256-${hash}';`);
  expect(withPolicy(html).indexOf("Content-Security-Policy")).toBeLessThan(
    withPolicy(html).indexOf("<script>"),
  );
});

describe("the index for language models", () => {
  const page = (name: string, text = "# Title\n\nText.\n") => ({ page: `${name}.md`, text });

  it("has each page's title, address and first sentence", () => {
    const text = "# Step-up\n\nSome actions shouldn't rely\non an old sign-in. More.\n";
    expect(llmsIndex([{ text: "Guides", pages: [page("how-to/step-up", text)] }])).toContain(
      "## Guides\n\nAll of these pages in one file: [llms/guides.txt](/llms/guides.txt)\n\n- [Step-up](/how-to/step-up.md): Some actions shouldn't rely on an old sign-in.\n",
    );
  });

  it("describes a page that begins with a table", () => {
    const text = "# Versions\n\n| A | B |\n|---|---|\n\nEach number is a version.\n";
    expect(llmsIndex([{ text: "Reference", pages: [page("reference/versions", text)] }])).toContain(
      "- [Versions](/reference/versions.md): Each number is a version.",
    );
  });

  it("has the sections of the menus in their order, and what is for maintainers last", () => {
    const pages = [
      page("about/questions"),
      page("api/index"),
      page("contributing/grammar"),
      page("explanation/decisions"),
      page("how-to/csrf"),
      page("reference/settings"),
      page("start/index"),
    ];
    const groups = llmsGroups(pages).filter((group) => group.pages.length > 0);
    expect(groups.map((group) => [group.text, ...group.pages.map((one) => one.page)])).toEqual([
      ["Start", "start/index.md"],
      ["Guides", "how-to/csrf.md"],
      ["Reference", "reference/settings.md"],
      ["API", "api/index.md"],
      ["Trust", "about/questions.md"],
      ["Optional", "contributing/grammar.md", "explanation/decisions.md"],
    ]);
  });
});

it("the copies of the pages as Markdown don't contain the comments from which pages are built", () => {
  const comments = [
    "tabs",
    "snippet: docs/x.mjs#a",
    "without addresses",
    "with addresses: [a](b)\n",
  ];
  for (const comment of comments)
    expect(withoutBuildComments(`One.\n\n<!-- ${comment} -->\n\nTwo.\n`)).toBe("One.\n\nTwo.\n");
  const code = "```html\n<!-- the button -->\n```\n";
  expect(withoutBuildComments(code)).toBe(code);
});

it.each([
  [
    "docs/about/support.md",
    "[SECURITY.md](../../SECURITY.md#reporting)",
    "[SECURITY.md](security-policy.md#reporting)",
  ],
  [
    "docs/about/support.md",
    "[test](../../test/x.ts), [page](project.md)",
    "[test](../../test/x.ts), [page](project.md)",
  ],
  [
    "CONTRIBUTING.md",
    "[page](docs/how-to/stores.md#testing-it)",
    "[page](../how-to/stores.md#testing-it)",
  ],
  [
    "CONTRIBUTING.md",
    "[log](CHANGELOG.md), [part](#builds)",
    "[log](../about/changelog.md), [part](#builds)",
  ],
  [
    "SECURITY.md",
    "[file](LICENSE), [site](https://openid.net/)",
    "[file](../../LICENSE), [site](https://openid.net/)",
  ],
])("the site's copy of %s links to the site's pages", (file, text, expected) => {
  expect(withSiteLinks(text, file)).toBe(expected);
});
