import express from "express";
import { idpAuth } from "idpauth/express";
import { signIn, startTestApi, startTestProvider } from "idpauth/testing";
import { expect } from "vitest";

/** @param {import("idpauth").IdpAuthOptions} options */
function createApp(options) {
  const app = express();
  const auth = idpAuth(options);
  auth.mount(app);
  app.use(auth.proxyApi("orders"));
  return { app, auth };
}

// #region dpop
const provider = await startTestProvider({ dpop: "required", dpopNonce: "refresh" });
const api = await startTestApi(provider, { dpopNonce: "always" });
const apis = { orders: { url: api.url, path: "/api/orders/" } };
const { app } = createApp({ env: provider.env, clock: provider.clock, apis });
const user = await signIn(app);
expect((await user.get("/api/orders/items")).status).toBe(200);
expect(api.requests.at(-1)?.headers.authorization).toMatch(/^DPoP /);

provider.clock.advance(3_600_000); // the tokens have expired
expect((await user.get("/api/orders/items")).status).toBe(200);
expect(provider.requestsTo("token", { grant_type: "refresh_token" })).toHaveLength(2);
// #endregion

await user.close();
await api.stop();
await provider.stop();
