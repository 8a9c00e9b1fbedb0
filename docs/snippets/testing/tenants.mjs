import { signIn, startTestProvider } from "idpauth/testing";
import { expect } from "vitest";
import { createApp } from "./app.mjs";

// #region tenants
const tenant = "11111111-2222-4333-8444-555555555555";
const provider = await startTestProvider({ tenant });
const { app } = createApp({ env: provider.env, clock: provider.clock });
const user = await signIn(app);
const stranger = { email: "eve@example.com", tid: "99999999-2222-4333-8444-555555555555" };
await expect(signIn(app, stranger)).rejects.toMatchObject({ code: "sign_in_refused" });
await provider.stop();
// #endregion

await user.close();
