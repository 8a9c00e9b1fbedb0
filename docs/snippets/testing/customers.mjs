import { providerSource } from "idpauth";
import { signIn, startTestProviders } from "idpauth/testing";
import { expect } from "vitest";
import { createApp } from "./app.mjs";

// #region customers
const providers = await startTestProviders({ acme: {}, globex: {} });
const { app, auth } = createApp({
  env: providers.env,
  clock: providers.clock,
  providers: providerSource(providers.source),
});
const guard = auth.idpRequiredWith({ provider: (req) => req.params.org });
app.get("/t/:org", guard, (req, res) => res.json("passed"));

await providers.add("initech"); // while the app runs
const ada = await signIn(app, { email: "ada@initech.example" }, { provider: "initech" });
expect((await ada.get("/t/initech")).status).toBe(200);
expect((await ada.get("/t/acme")).status).toBe(401);
await providers.stop();
// #endregion

await ada.close();
