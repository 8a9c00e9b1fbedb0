import { generateKeyPairSync } from "node:crypto";
import { afterEach, expect, it } from "vitest";
import type { LogoutTokenOptions } from "../../src/testing/provider/logout-tokens.js";
import { ADA } from "../../src/testing/provider/people.js";
import { startApplication, type Application, type TestUser } from "../support/application.js";

const SUB = String(ADA["sub"]);

let application: Application;

afterEach(() => application.stop());

async function signedIn(): Promise<TestUser> {
  const user = application.user();
  expect((await user.signIn()).status).toBe(302);
  expect(await user.isSignedIn()).toBe(true);
  return user;
}

/** Sends a logout token, as the provider does. Returns the status of the response. */
async function send(token: string): Promise<number> {
  const fields = { logout_token: token };
  const { status, headers } = await application.user().post("/idpauth/backchannel-logout", fields);
  expect(headers["Cache-Control"]).toBe("no-store");
  return status;
}

it("[ASVS-10.5.5] a logout token of the provider ends the user's session, and again it ends no newer one", async () => {
  application = await startApplication({ backchannelLogout: true });
  const { provider, clock } = application;
  const user = await signedIn();
  const token = provider.logoutToken({ sub: SUB });
  expect(await send(token)).toBe(200);
  expect(await user.isSignedIn()).toBe(false);
  clock.advance(10_000);
  const newer = await signedIn();
  expect(await send(token)).toBe(200);
  expect(await newer.isSignedIn()).toBe(true);
});

const { privateKey: foreign } = generateKeyPairSync("rsa", { modulusLength: 2048 });

it.each<[string, LogoutTokenOptions]>([
  ["another key", { key: foreign }],
  ["another type", { header: { typ: "at+jwt" } }],
  ["another audience", { claims: { aud: "another-client" } }],
  ["another issuer", { claims: { iss: "https://another.example" } }],
  ["a nonce", { claims: { nonce: "n" } }],
  ["no event", { claims: { events: undefined } }],
  ["neither sub nor sid", { claims: { sub: undefined, sid: undefined } }],
  ["an expiry in the past", { exp: 1 }],
])("[ASVS-10.5.5] a logout token with %s ends nothing", async (_what, options) => {
  application = await startApplication({ backchannelLogout: true });
  const user = await signedIn();
  expect(await send(application.provider.logoutToken({ sub: SUB, ...options }))).toBe(400);
  expect(await user.isSignedIn()).toBe(true);
});
