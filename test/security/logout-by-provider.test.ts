import { generateKeyPairSync } from "node:crypto";
import { afterEach, expect, it } from "vitest";
import type { LogoutTokenOptions } from "../../src/testing/provider/logout-tokens.js";
import { ADA } from "../../src/testing/provider/people.js";
import { expectSignedIn, Stage, userOf } from "../conformance/relying-party.js";
import { send } from "../conformance/rp-logout.js";

const SUB = String(ADA["sub"]);

let stage: Stage | undefined;
afterEach(() => stage?.end());

async function started() {
  stage = new Stage();
  return stage.start({ backchannelLogout: true });
}

it("[ASVS-10.5.5] a logout token of the provider ends the user's session, and again it ends no newer one", async () => {
  const application = await started();
  const { provider, clock } = application;
  const { browser } = await expectSignedIn(application);
  const token = provider.logoutToken({ sub: SUB });
  expect((await send(application, token)).status).toBe(200);
  expect(await userOf(browser)).toBeNull();
  clock.advance(10_000);
  const { browser: newer } = await expectSignedIn(application);
  expect((await send(application, token)).status).toBe(200);
  expect(await userOf(newer)).not.toBeNull();
});

const { privateKey: foreign } = generateKeyPairSync("rsa", { modulusLength: 2048 });

it.each<[string, LogoutTokenOptions]>([
  ["another key", { key: foreign }],
  ["another type", { header: { typ: "JWT" } }],
  ["no type", { header: { typ: undefined } }],
  ["another audience", { claims: { aud: "another-client" } }],
  ["another issuer", { claims: { iss: "https://another.example" } }],
  ["a nonce", { claims: { nonce: "n" } }],
  ["no event", { claims: { events: undefined } }],
  ["neither sub nor sid", { claims: { sub: undefined, sid: undefined } }],
  ["an expiry in the past", { exp: 1 }],
])("[ASVS-10.5.5] a logout token with %s ends nothing", async (_what, options) => {
  const application = await started();
  const { provider } = application;
  const { browser } = await expectSignedIn(application);
  const { status } = await send(application, provider.logoutToken({ sub: SUB, ...options }));
  expect(status).toBe(400);
  expect(await userOf(browser)).not.toBeNull();
});
