import express from "express";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { idpAuth, type ExpressIdpAuth } from "../../src/adapters/express/express.js";
import type { IdpAuthOptions } from "../../src/index.js";
import { systemClock } from "../../src/clock.js";
import { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { confirmLogout, startOidcProvider, type OidcProvider } from "../support/oidc-provider.js";
import { settled } from "../../src/testing/settled.js";

// Signing in with a key at oidc-provider, which checks each assertion with code that this project
// did not write, and fetches the keys from the application.

const next = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;

let provider: OidcProvider;
let server: Server;
let ahead = 0;

/** The system's clock, which a test moves ahead. */
const clock = { ...systemClock, now: () => systemClock.now() + ahead };

interface Started {
  readonly browser: CookieBrowser;
  readonly auth: ExpressIdpAuth;
}

async function start(
  privateKey: readonly KeyObject[],
  requirePushed = false,
  options: Partial<IdpAuthOptions> & { readonly withSigning?: boolean } = {},
): Promise<Started> {
  const { withSigning = false, ...others } = options;
  const app = express();
  server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  provider = await startOidcProvider({
    application: origin,
    withKey: true,
    requirePushed,
    withSigning,
  });
  const auth = idpAuth({
    env: {},
    secretKey: "a secret key of at least 32 bytes",
    issuer: provider.issuer,
    clientId: provider.clientId,
    privateKey,
    scope: ["openid", "email", "profile", "offline_access"],
    log: false,
    clock,
    ...others,
  });
  auth.mount(app);
  app.get("/token", (request, response, fail) => {
    // A token is renewed after half of its life.
    auth
      .getAccessToken(request, { minValidity: 86_400 })
      .then((token) => response.json({ token }), fail);
  });
  return { browser: new CookieBrowser({ origin }), auth };
}

afterEach(async () => {
  ahead = 0;
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
  await provider.stop();
});

/** Half an hour later, the application has another access token. */
async function expectRefresh(browser: CookieBrowser): Promise<void> {
  const tokenNow = async () => ((await browser.get("/token")).json() as { token: unknown }).token;
  const first = await tokenNow();
  ahead = 1_900_000;
  const second = await tokenNow();
  expect([typeof first, typeof second]).toEqual(["string", "string"]);
  expect(first).not.toBe(second);
}

it.each<[string, () => KeyObject]>([
  ["RSA", () => generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey],
  ["P-256", () => next],
  ["Ed25519", () => generateKeyPairSync("ed25519").privateKey],
])(
  "oidc-provider accepts an %s key for a sign-in, a refresh and a revocation",
  async (_name, key) => {
    const { browser, auth } = await start([key()]);
    const revoked: unknown[] = [];
    auth.on("logout", (event) => revoked.push(event.revoked));
    await browser.follow("/idpauth/login/");
    await expectRefresh(browser);
    await browser.get("/idpauth/logout/?response=json");
    await settled(auth);
    expect(revoked).toEqual([true]);
  },
);

it("the JWK set contains the public halves alone, the signing key's first", async () => {
  const { browser } = await start([next, generateKeyPairSync("ed25519").privateKey]);
  const response = await browser.get("/idpauth/jwks");
  expect(response.headers["content-type"]).toBe("application/json; charset=utf-8");
  const { keys } = response.json() as { keys: Record<string, string>[] };
  expect(keys.map(({ kty, use, d }) => [kty, use, d])).toEqual([
    ["EC", "sig", undefined],
    ["OKP", "sig", undefined],
  ]);
});

describe("oidc-provider that requires pushed requests, with a key", () => {
  it("accepts a sign-in, a refresh, a revocation and a logout", async () => {
    const { browser, auth } = await start([next], true, { logoutAtProvider: true });
    const revoked: unknown[] = [];
    auth.on("logout", (event) => revoked.push(event.revoked));
    const login = await browser.navigate("/idpauth/login/");
    const address = new URL(login.location ?? "");
    expect([...address.searchParams.keys()]).toEqual(["client_id", "request_uri"]);
    await browser.follow(address.href);
    await expectRefresh(browser);
    const page = await browser.follow("/idpauth/logout/");
    expect(page.url.origin).toBe(provider.issuer);
    const signedOut = await confirmLogout(browser, page);
    expect(signedOut.url.pathname).toMatch(/^\/idpauth\//);
    await settled(auth);
    expect(revoked).toEqual([true]);
    expect((await browser.get("/idpauth/session")).json()).toMatchObject({ authenticated: false });
  });

  it("accepts each address once", async () => {
    const { browser } = await start([next], true);
    const { location = "" } = await browser.navigate("/idpauth/login/");
    await browser.follow(location);
    const again = await new CookieBrowser({ origin: new URL(location).origin }).get(location);
    expect(again.location).toContain("error=invalid_request_uri");
  });
});

describe("with signed requests and responses, which oidc-provider makes and checks with code of its own", () => {
  const signing = { withSigning: true, responseMode: "jwt" } as const;
  const SESSION = "/idpauth/session";

  /** Logs in, and gives the response of the callback, which gets nothing but a JWT. */
  async function callbackOf(browser: CookieBrowser) {
    const { trail } = await browser.follow("/idpauth/login/");
    const callback = trail.find(({ url }) => url.pathname === "/idpauth/login-callback");
    expect([...(callback?.url.searchParams.keys() ?? [])]).toEqual(["response"]);
    return callback;
  }

  it.each([
    ["in the address", false],
    ["pushed", true],
  ])("a sign-in works, %s", async (_where, requirePushed) => {
    const { browser } = await start([next], requirePushed, signing);
    await callbackOf(browser);
    expect((await browser.get(SESSION)).json()).toMatchObject({ authenticated: true });
  });

  it("a silent login without a session at the provider goes on signed out: the error is signed, too", async () => {
    const authorizationParams = { prompt: "none" };
    const { browser } = await start([next], false, { ...signing, authorizationParams });
    expect((await callbackOf(browser))?.status).toBe(302);
    expect((await browser.get(SESSION)).json()).toMatchObject({ authenticated: false });
  });
});
