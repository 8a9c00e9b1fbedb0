import express from "express";
import { idpAuth } from "idpauth/express";

const auth = idpAuth();

// #region own
export const required = auth.idpRequiredWith({
  unauthenticated: (req, res, blocked) => {
    res.status(401).json({ authenticated: false, login_url: blocked.loginUrl });
  },
});
// #endregion

export const app = express();
auth.mount(app);
app.get("/reports", required);
