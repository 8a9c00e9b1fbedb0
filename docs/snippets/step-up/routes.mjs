import express from "express";
import { idpAuth } from "idpauth/express";

export const app = express();
export const auth = idpAuth();
auth.mount(app);

/** @type {express.RequestHandler} */
const handler = (_req, res) => void res.send("passed");

// #region recent
app.get("/transfer", auth.idpRequiredWith({ maxAge: 300 }), handler);
app.post("/transfer", auth.idpRequiredWith({ maxAge: 300 }), handler);
// #endregion

// #region strong
app.post("/payout", auth.idpRequiredWith({ acr: "urn:okta:loa:2fa:any", maxAge: 600 }), handler);
// #endregion
