import express from "express";
import { hasClaim } from "idpauth";
import { idpAuth } from "idpauth/express";
import { signIn, startTestProvider } from "idpauth/testing";
import { expect } from "vitest";

const provider = await startTestProvider();
const app = express();
const auth = idpAuth({ env: provider.env, clock: provider.clock });
auth.mount(app);

// #region roles
app.get("/admin", auth.idpRequiredWith({ allow: hasClaim("groups", "admin") }), (req, res) =>
  res.json("passed"),
);
const admin = await signIn(app, { email: "ada@example.com", groups: ["admin", "staff"] });
expect((await admin.get("/admin")).status).toBe(200);
const member = await signIn(app, { email: "grace@example.com", groups: ["staff"] });
expect((await member.get("/admin")).status).toBe(403);
// #endregion

await admin.close();
await member.close();
await provider.stop();
