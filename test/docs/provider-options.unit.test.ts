import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readProviderUsage } from "../../src/cli/provider/provider-usage.js";

const page = readFileSync(new URL("../../docs/reference/provider.md", import.meta.url), "utf8");

describe("docs/reference/provider.md", () => {
  it("names options that the command accepts, with the defaults that it has", () => {
    const options = [...page.matchAll(/^\| `(--[^`]+)`/gm)].map(([, option = ""]) =>
      option
        .replaceAll('"', "")
        .replace("=URI", "=http://localhost/")
        .replace("=GUID", "=11111111-2222-4333-8444-555555555555"),
    );
    expect(options).toHaveLength(21);
    const needed: Readonly<Record<string, string>> = {
      "--tls-cert=FILE": "--tls-key=FILE",
      "--dpop-nonce=rotates": "--dpop",
    };
    const withKey = (option: string) => [needed[option] ?? []].flat();
    for (const option of options)
      expect(readProviderUsage([option, ...withKey(option)])).not.toHaveProperty("mistake");
    expect(readProviderUsage([])).toMatchObject({
      port: 9400,
      providers: [{ tokenSeconds: 3600, accessTokens: "jwt" }],
      writeEnv: undefined,
    });
  });
});
