import express from "express";
import { idpAuth } from "idpauth/express";

export const app = express();
const auth = idpAuth({ onSignIn: () => ({ data: { plan: "paid" } }) });
auth.mount(app);

/** @type {express.RequestHandler} */
const handler = (_req, res) => void res.send("passed");

// #region allow
import { hasClaim } from "idpauth";

app.get("/admin", auth.idpRequiredWith({ allow: hasClaim("groups", "admin") }), handler);

app.get(
  "/billing",
  auth.idpRequiredWith({
    allow: ({ claims, data }) => data["plan"] === "paid" && claims["locale"] !== "de",
  }),
  handler,
);
// #endregion
