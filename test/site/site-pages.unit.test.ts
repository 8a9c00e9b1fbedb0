import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { isInternal, llmsIndex, withPolicy, withSiteLinks } from "../../scripts/site-pages.mjs";

it("the policy allows the page's inline scripts by their hashes, and scripts of the site", () => {
  const html =
    '<html><head><script>go();</script><script type="module" src="/app.js"></script></head></html>';
  const hash = createHash("sha256").update("go();").digest("base64");
  expect(withPolicy(html)).toContain(`script-src 'self' 'sha256-${hash}';`);
  expect(withPolicy(html).indexOf("Content-Security-Policy")).toBeLessThan(
    withPolicy(html).indexOf("<script>"),
  );
});

it("the index for language models has each page's title, address and first sentence", () => {
  const text = "# Step-up\n\nSome actions shouldn't rely\non an old sign-in. More.\n";
  expect(llmsIndex([{ page: "how-to/step-up.md", text }])).toContain(
    "- [Step-up](/how-to/step-up.md): Some actions shouldn't rely on an old sign-in.",
  );
});

it.each([
  ["evidence/security.md", true],
  ["contributing/architecture.md", true],
  ["contributing/index.md", false],
  ["explanation/decisions.md", true],
  ["explanation/security.md", false],
  ["how-to/csrf.md", false],
])("%s: for maintainers only is %s", (page, expected) => {
  expect(isInternal(page)).toBe(expected);
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
