import express from "express";
import { decodeJwt } from "jose";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { idpAuth } from "../../src/adapters/express/express.js";
import { ApiTokenError, memoryStore, type ApiOptions } from "../../src/index.js";
import { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { submission } from "../support/choose-person.mjs";
import { emptyFolder, startProvider } from "./provider-run.js";

const BILLING = "https://billing.example.com";

/** An application with one API, at a provider that asks for consent. */
async function startApplication(billing: Partial<ApiOptions>) {
  const provider = await startProvider(["--port=0", "--consent"], { folder: emptyFolder() });
  const app = express();
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
  const auth = idpAuth({
    env: { ...provider.env, BASE_URL: origin },
    store: memoryStore(),
    log: false,
    apis: { billing: { url: "https://billing.internal/", ...billing } },
  });
  auth.mount(app);
  app.get("/token", auth.idpRequired, async (request, response) => {
    try {
      const token = await auth.getAccessToken(request, { api: "billing" });
      const { aud, scope } = decodeJwt(token ?? "");
      response.json({ aud, scope });
    } catch (error) {
      if (!(error instanceof ApiTokenError)) throw error;
      response.json({ reason: error.reason, loginUrl: error.loginUrl });
    }
  });
  const browser = new CookieBrowser({ origin });
  /** Signs in, and allows these scopes beside `openid`. */
  async function allow(loginUrl: string, scopes: readonly string[]): Promise<string> {
    const { url: peoplePage, ...person } = submission(await browser.follow(loginUrl), "Ada");
    const consent = await browser.get(peoplePage, person);
    const { url, body, ...options } = submission(consent, "Allow");
    const fields = new URLSearchParams(body);
    fields.set("person", "ada");
    for (const scope of scopes) fields.set(`scope:${scope}`, "yes");
    const allowed = await browser.get(url, { ...options, body: fields.toString() });
    await browser.follow(allowed.location ?? "");
    return consent.text;
  }
  const token = async () => (await browser.get("/token")).json() as Record<string, unknown>;
  return { provider, allow, token };
}

it("an API with consent later is asked for by its own login, and a refresh gets nothing of it before", async () => {
  const { provider, allow, token } = await startApplication({
    scope: ["billing.read"],
    consent: "later",
  });
  const first = await allow("/idpauth/login/", ["offline_access"]);
  expect(first).not.toContain("billing.read");
  const refused = { reason: "invalid_scope", loginUrl: "/idpauth/login/?api=billing" };
  expect(await token()).toEqual(refused);
  expect(provider.stderr()).toContain(
    "refused token: invalid_scope, the user hasn't granted billing.read",
  );

  const second = await allow(refused.loginUrl, ["offline_access", "billing.read"]);
  expect(second).toContain("billing.read");
  expect(await token()).toMatchObject({ scope: "billing.read" });
});

it("the same with the API's resource: its token comes after the login that requested it", async () => {
  const { allow, token } = await startApplication({ resource: BILLING, consent: "later" });
  await allow("/idpauth/login/", ["offline_access"]);
  const refused = { reason: "invalid_target", loginUrl: "/idpauth/login/?api=billing" };
  expect(await token()).toEqual(refused);
  expect(await allow(refused.loginUrl, ["offline_access"])).toContain(BILLING);
  expect(await token()).toMatchObject({ aud: BILLING });
});

it("an API that the first login requests, needs no second one", async () => {
  const { provider, allow, token } = await startApplication({ resource: BILLING });
  expect(await allow("/idpauth/login/", ["offline_access"])).toContain(BILLING);
  expect(await token()).toMatchObject({ aud: BILLING });
  expect(provider.stderr()).toBe("");
});
