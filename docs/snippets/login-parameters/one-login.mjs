import express from "express";
import { idpAuth } from "idpauth/express";

export const app = express();

// #region one-login
const auth = idpAuth({ loginParams: ["login_hint", "ui_locales"] });
auth.mount(app);

app.get("/welcome", (req, res) => {
  res.redirect(
    auth.loginUrl(req, {
      returnTo: "/reports",
      params: { login_hint: "ada@example.com", ui_locales: "de" },
    }),
  );
});
// #endregion
