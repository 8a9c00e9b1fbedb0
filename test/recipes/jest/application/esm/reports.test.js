import express from "express";
import { idpAuth } from "idpauth/express";
import { signIn, startTestProvider } from "idpauth/testing";

test("a user is signed in", async () => {
  const provider = await startTestProvider();
  const app = express();
  const auth = idpAuth({ env: provider.env, clock: provider.clock });
  auth.mount(app);
  app.get("/reports", auth.idpRequired, async (req, res) =>
    res.json((await auth.requireSession(req)).user),
  );
  const user = await signIn(app, { email: "ada@example.com" });
  expect((await user.get("/reports")).json()).toMatchObject({ email: "ada@example.com" });
  await provider.stop();
});
