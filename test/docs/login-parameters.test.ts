import { readFileSync } from "node:fs";
import path from "node:path";
import express from "express";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { idpAuth } from "../../src/adapters/express/express.js";
import { readSettings } from "../../src/config/read-settings.js";
import type { IdpAuthOptions } from "../../src/index.js";
import { browser, startTestProvider, type TestBrowser, type TestProvider } from "../../src/testing/index.js";

const page = readFileSync(path.resolve(import.meta.dirname, "../../docs/how-to/login-parameters.md"), "utf8");

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
  it.each([...page.matchAll(/\| `([^`]+)` \|$/gm)].map(([, query = ""]) => query))("%s is accepted", (query) => {
    const { findings, settings: read } = settings({ IDP_AUTHORIZATION_PARAMS: query });
    expect(findings).toEqual([]);
    expect(Object.keys(read?.authorizationParams ?? {})).toEqual([...new Set(new URLSearchParams(query).keys())]);
  });

  it.each([...page.matchAll(/(?:^|`)(IDP_\w+)=([^`\n]+)/gm)].map(([, name = "", value = ""]) => [name, value]))("%s=%s", (name, value) => {
    expect(settings({ [name]: value }).findings).toEqual([]);
  });

  it("are found", () => {
    expect(page.match(/\| `[^`]+` \|$/gm)).toHaveLength(2);
    expect(page.match(/(?:^|`)IDP_\w+=/gm)).toHaveLength(2);
  });
});

describe("the code of docs/how-to/login-parameters.md", () => {
  let provider: TestProvider;
  beforeEach(async () => {
    provider = await startTestProvider();
  });
  afterEach(() => provider.stop());

  /** Runs the first sample below a title, and gives a browser at its application. */
  async function run(title: string): Promise<TestBrowser> {
    const app = express();
    const section = page.split(/^## /m).find((each) => each.startsWith(title)) ?? "";
    const code = /^```js\n(.*?)^```$/ms.exec(section)?.[1] ?? "";
    const create = (own: IdpAuthOptions = {}) => idpAuth({ env: provider.env, log: false, ...own });
    const auth = create();
    if (!code.includes("idpAuth(")) auth.mount(app);
    // Parameters outside, so that a sample may declare `auth`.
    // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the page is the project's own
    new Function("idpAuth", "app", "auth", `{ ${code} }`)(create, app, auth);
    return browser(app);
  }
  const requested = () => provider.requestsTo("authorize").at(-1)?.query;

  it("sends the same parameters with every login", async () => {
    const user = await run("Send the same parameters with every login");
    await user.follow("/idpauth/login/");
    expect(requested()?.get("audience")).toBe("https://api.example.com");
    await user.close();
  });

  it("sends the parameters of one login", async () => {
    const user = await run("Send a parameter with one login");
    const { url } = await user.follow("/welcome");
    expect([requested()?.get("login_hint"), requested()?.get("ui_locales")]).toEqual(["ada@example.com", "de"]);
    expect(url.pathname).toBe("/reports");
    await user.close();
  });

  it("verifies the claim", async () => {
    const user = await run("Login parameters don't restrict who signs in");
    expect((await user.follow("/reports")).status).toBe(403);
    provider.person = { ...provider.person, hd: "example.com" };
    await user.follow("/idpauth/login/");
    expect((await user.follow("/reports")).text).toBe("The reports");
    await user.close();
  });

  it("checks once for a session at the provider", async () => {
    const user = await run("Check for a session at the provider");
    const signedOut = await user.follow("/");
    expect([signedOut.status, signedOut.url.search, signedOut.text]).toEqual([200, "?checked=yes", "Welcome"]);
    expect(requested()?.get("prompt")).toBe("none");
    expect((await user.follow("/?checked=yes")).trail).toHaveLength(1);
    await user.follow("/idpauth/login/");
    expect((await user.follow("/")).trail).toHaveLength(1);
    await user.close();
  });
});
