import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { followQuickStart } from "../../scripts/quick-start.mjs";
import { readProviderUsage } from "../../src/cli/provider/provider-usage.js";
import { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { buildPackage } from "../support/build.js";

const page = readFileSync(new URL("../../docs/reference/provider.md", import.meta.url), "utf8");

it("the README's quick start runs in an empty folder", async () => {
  await buildPackage();
  const transcript = await followQuickStart(CookieBrowser);
  expect(transcript).toMatch(/^idpauth check: 0 errors, 0 warnings$/m);
  expect(transcript).toMatch(/^\[ Ada Lovelace ada@example\.com \]\n/m);
  // The user is signed in three times: at first, after the provider's restart, and after both
  // restarts.
  expect(transcript.match(/^200 .*"Ada Lovelace"/gm)).toHaveLength(3);
}, 240_000);

describe("docs/reference/provider.md", () => {
  it("names options that the command accepts, with the defaults that it has", () => {
    const options = [...page.matchAll(/^\| `(--[^`]+)`/gm)].map(([, option = ""]) =>
      option
        .replaceAll('"', "")
        .replace("=URI", "=http://localhost/")
        .replace("=GUID", "=11111111-2222-4333-8444-555555555555"),
    );
    expect(options).toHaveLength(17);
    const withKey = (option: string) => (option === "--tls-cert=FILE" ? ["--tls-key=FILE"] : []);
    for (const option of options)
      expect(readProviderUsage([option, ...withKey(option)])).not.toHaveProperty("mistake");
    expect(readProviderUsage([])).toMatchObject({
      port: 9400,
      providers: [{ tokenSeconds: 3600, accessTokens: "jwt" }],
      writeEnv: undefined,
    });
  });
});
