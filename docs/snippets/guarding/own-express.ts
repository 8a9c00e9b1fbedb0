import express from "express";

// #region own
import { idpAuth } from "idpauth/express";

const auth = idpAuth();
export const required = auth.idpRequiredWith({
  unauthenticated: (req, res, blocked) => {
    res.status(401).json({ signInAt: blocked.loginUrl });
  },
});
// #endregion

export const app = express();
auth.mount(app);
app.get("/reports", required);
