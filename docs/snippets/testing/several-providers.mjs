import { providersEnv, signIn, startTestProvider } from "idpauth/testing";
import { expect } from "vitest";
import { createApp } from "./app.mjs";

// #region providers
const staff = await startTestProvider();
const customers = await startTestProvider({ clock: staff.clock });
const { app, auth } = createApp({ env: providersEnv({ staff, customers }), clock: staff.clock });
app.get("/payroll", auth.idpRequiredWith({ provider: "staff" }), (req, res) => res.json("passed"));

const ada = await signIn(app, { email: "ada@example.com" }, { provider: "staff" });
expect((await ada.get("/payroll")).status).toBe(200);
const grace = await signIn(app, { email: "grace@example.com" }, { provider: "customers" });
expect((await grace.get("/payroll")).status).toBe(401);
await Promise.all([staff.stop(), customers.stop()]);
// #endregion

await ada.close();
await grace.close();
