import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { isInternal, llmsIndex, withPolicy } from "../../scripts/site-pages.mjs";

it("the policy allows the page's inline scripts by their hashes, and scripts of the site", () => {
  const html = '<html><head><script>go();</script><script type="module" src="/app.js"></script></head></html>';
  const hash = createHash("sha256").update("go();").digest("base64");
  expect(withPolicy(html)).toContain(`script-src 'self' 'sha256-${hash}';`);
  expect(withPolicy(html).indexOf("Content-Security-Policy")).toBeLessThan(withPolicy(html).indexOf("<script>"));
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
  ["explanation/decisions.md", true],
  ["explanation/security.md", false],
  ["how-to/csrf.md", false],
])("%s: for maintainers only is %s", (page, expected) => {
  expect(isInternal(page)).toBe(expected);
});
