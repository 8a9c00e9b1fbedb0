import { after, test } from "node:test";
import { signedInAs, signIn, startTestProvider } from "idpauth/testing";
import request from "supertest";
import { createApp } from "./app.mjs";

const provider = await startTestProvider();
const { app, auth } = createApp({ env: provider.env, clock: provider.clock });
after(() => provider.stop());

void test("the reports are for signed-in users", async () => {
  await request(app).get("/reports").expect(401);
  const cookie = await signedInAs(auth, { email: "grace@example.com" });
  await request(app)
    .get("/reports")
    .set("Cookie", cookie)
    .expect(200, { for: "grace@example.com" });
});

void test("a user who signed in at the provider keeps the session during an outage", async () => {
  const { cookie } = await signIn(app, { email: "ada@example.com" });
  provider.clock.advance(3_600_000); // milliseconds: the ID token has expired
  provider.fault("token", { kind: "status", status: 503, times: 1 });
  await request(app).get("/reports").set("Cookie", cookie).expect(503);
  provider.clock.advance(60_000);
  await request(app).get("/reports").set("Cookie", cookie).expect(200);
});
