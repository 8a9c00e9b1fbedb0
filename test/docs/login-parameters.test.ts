import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { readSettings } from "../../src/config/read-settings.js";

const page = readFileSync(
  path.resolve(import.meta.dirname, "../../docs/how-to/login-parameters.md"),
  "utf8",
);

const settings = (env: Record<string, string>) =>
  readSettings(
    {},
    {
      SECRET_KEY: "an-example-of-a-key-with-32-bytes!",
      IDP_CLIENT_ID: "client",
      IDP_CLIENT_SECRET: "client-secret",
      SCOPE: "openid",
      BASE_URL: "https://app.example",
      IDP_ISSUER: "https://accounts.google.com",
      ...env,
    },
  );

describe("the settings of docs/how-to/login-parameters.md", () => {
  it.each([...page.matchAll(/\| `([^`]+)` \|$/gm)].map(([, query = ""]) => query))(
    "%s is accepted",
    (query) => {
      const { findings, providers } = settings({ IDP_AUTHORIZATION_PARAMS: query });
      expect(findings).toEqual([]);
      expect(Object.keys(providers[0]?.settings.authorizationParams ?? {})).toEqual([
        ...new Set(new URLSearchParams(query).keys()),
      ]);
    },
  );

  it.each(
    [...page.matchAll(/(?:^|`)(IDP_\w+)=([^`\n]+)/gm)].map(([, name = "", value = ""]) => [
      name,
      value,
    ]),
  )("%s=%s", (name, value) => {
    expect(settings({ [name]: value }).findings).toEqual([]);
  });

  it("are found", () => {
    expect(page.match(/\| `[^`]+` \|$/gm)).toHaveLength(2);
    expect(page.match(/(?:^|`)IDP_\w+=/gm)).toHaveLength(2);
  });
});
