import express from "express";
import { idpAuth } from "idpauth/express";
import { signIn, startTestProvider } from "idpauth/testing";
import { afterAll, expect, test } from "vitest";

/** @param {import("idpauth").IdpAuthOptions} options */
function createApp(options) {
  const app = express();
  const auth = idpAuth(options);
  auth.mount(app);
  app.get("/reports", auth.idpRequired, async (req, res) => {
    const { user } = await auth.requireSession(req);
    res.json(user);
  });
  return { app, auth };
}

const provider = await startTestProvider();
afterAll(() => provider.stop());

test("a signed-in user sees the reports", async () => {
  const { app } = createApp({ env: provider.env, clock: provider.clock });
  const user = await signIn(app, { email: "ada@example.com" });
  expect((await user.get("/reports")).status).toBe(200);
});
