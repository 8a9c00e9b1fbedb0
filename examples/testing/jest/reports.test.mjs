import { browser, signedInAs, signIn, startTestProvider } from "idpauth/testing";
import { afterAll, expect, test } from "@jest/globals";
import { createApp } from "./app.mjs";

const provider = await startTestProvider();
const { app, auth } = createApp({ env: provider.env, clock: provider.clock });
const stranger = await browser(app);
afterAll(() => provider.stop());

test("the reports are for whoever is signed in", async () => {
  const user = await signIn(app, { email: "grace@example.com" });
  expect((await user.get("/reports")).json()).toEqual({ for: "grace@example.com" });
  expect((await stranger.get("/reports")).status).toBe(401);
  expect(
    (await stranger.get("/reports", { headers: { cookie: await signedInAs(auth) } })).status,
  ).toBe(200);
});

test("when the ID token has run out, an outage of the provider is 503, and later the session is refreshed", async () => {
  const user = await signIn(app);
  provider.clock.advance(3_600_000); // milliseconds
  provider.fault("token", { kind: "status", status: 503, times: 1 });
  expect((await user.get("/reports")).status).toBe(503);
  provider.clock.advance(60_000);
  expect((await user.get("/reports")).status).toBe(200);
  expect(provider.requestsTo("token", { grant_type: "refresh_token" })).toHaveLength(2);
});
