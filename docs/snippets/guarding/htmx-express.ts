import express from "express";
import { idpAuth } from "idpauth/express";

export const app = express();
const auth = idpAuth();
auth.mount(app);

// #region htmx
const required = auth.idpRequiredWith({
  unauthenticated: (req, res, blocked) => {
    if (req.get("HX-Request") === "true") {
      const returnTo = req.get("HX-Current-URL") ?? null; // the page that sent the request
      res.set("HX-Redirect", auth.loginUrl(req, { returnTo }));
    }
    res.status(401).json({ login_url: blocked.loginUrl });
  },
});
// #endregion

app.get("/orders/rows", required, (req, res) => {
  res.send("<tr>");
});
