import { deepEqual, equal } from "node:assert/strict";
import { after, test } from "node:test";
import { browser, signedInAs, signIn, startTestProvider } from "idpauth/testing";
import { createApp } from "./app.mjs";

const provider = await startTestProvider();
const { app, auth } = createApp({ env: provider.env, clock: provider.clock });
const stranger = await browser(app);
after(() => provider.stop());

void test("the reports are for whoever is signed in", async () => {
  const user = await signIn(app, { email: "grace@example.com" });
  deepEqual((await user.get("/reports")).json(), { for: "grace@example.com" });
  equal((await stranger.get("/reports")).status, 401);
  equal(
    (await stranger.get("/reports", { headers: { cookie: await signedInAs(auth) } })).status,
    200,
  );
});

void test("when the ID token has run out, an outage of the provider is 503, and later the session is refreshed", async () => {
  const user = await signIn(app);
  provider.clock.advance(3_600_000); // milliseconds
  provider.fault("token", { kind: "status", status: 503, times: 1 });
  equal((await user.get("/reports")).status, 503);
  provider.clock.advance(60_000);
  equal((await user.get("/reports")).status, 200);
  equal(provider.requestsTo("token", { grant_type: "refresh_token" }).length, 2);
});
