import express from "express";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { idpAuth, type ExpressIdpAuth } from "../../src/adapters/express/express.js";
import { ApiTokenError, type IdpAuthOptions } from "../../src/index.js";
import { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { startOidcProvider, type OidcProvider } from "../support/oidc-provider.js";
import { optionsFor } from "../support/options-for.js";

// Tokens for several resources of oidc-provider, whose resource indicators (RFC 8707) this project
// did not write.

const [ORDERS, BILLING, OTHER] = [
  "https://orders.example.com",
  "https://billing.example.com",
  "urn:another:resource",
] as const;

let provider: OidcProvider;
let server: Server;
let auth: ExpressIdpAuth;

async function start(apis: NonNullable<IdpAuthOptions["apis"]>): Promise<CookieBrowser> {
  const app = express();
  server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  provider = await startOidcProvider({ application: origin, resources: [ORDERS, BILLING, OTHER] });
  auth = idpAuth({
    ...optionsFor(provider),
    log: false,
    apis,
  });
  auth.mount(app);
  app.get("/token/:api", (request, response, fail) => {
    auth.getAccessToken(request, { api: request.params.api }).then(
      (token) => response.json({ token }),
      (error: unknown) =>
        error instanceof ApiTokenError
          ? response.json({ code: error.code, reason: error.reason })
          : fail(error),
    );
  });
  return new CookieBrowser({ origin });
}

afterEach(async () => {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
  await provider.stop();
});

const url = "https://api.internal/";

it("oidc-provider issues a JWT for each resource of the login, and none for another resource", async () => {
  const browser = await start({
    orders: { url, resource: ORDERS },
    billing: { url, resource: BILLING },
    other: { url, resource: OTHER, consent: "later" },
  });
  await browser.follow("/idpauth/login/");
  const ask = async (api: string) =>
    (await browser.get(`/token/${api}`)).json() as { token: string };
  const audiences = [];
  for (const api of ["orders", "billing", "orders"]) {
    const [, claims = ""] = (await ask(api)).token.split(".");
    audiences.push(
      (JSON.parse(Buffer.from(claims, "base64url").toString()) as { aud: unknown }).aud,
    );
  }
  expect(audiences).toEqual([ORDERS, BILLING, ORDERS]);
  expect(await ask("other")).toEqual({ code: "api_sign_in_required", reason: "invalid_target" });
  expect((await browser.get("/idpauth/session")).json()).toMatchObject({ authenticated: true });
  // With `consent: "later"`, only a login for this API asks for it, too.
  await browser.follow("/idpauth/login/?api=other");
  expect((await ask("other")).token.split(".").length).toBe(3);
});
