import express from "express";
import { roles } from "./roles.mjs";

export const app = express();

/** @type {express.RequestHandler} */
const handler = (_req, res) => void res.send("passed");

// #region refresh
import { deny } from "idpauth";
import { idpAuth } from "idpauth/express";

const auth = idpAuth({
  async onSignIn({ claims }) {
    const role = await roles.find(claims.iss, claims.sub);
    return role === undefined ? deny("You have no role in this application.") : { data: { role } };
  },
  async onRefresh({ claims }) {
    const role = await roles.find(claims.iss, claims.sub);
    return role === undefined ? deny() : (data) => ({ ...data, role });
  },
});
auth.mount(app);

app.get("/reports", auth.idpRequiredWith({ allow: ({ data }) => data.role === "reader" }), handler);
// #endregion
