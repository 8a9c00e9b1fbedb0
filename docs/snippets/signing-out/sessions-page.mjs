import express from "express";
import { idpAuth } from "idpauth/express";

const auth = idpAuth({ sessionsPage: true }); // or IDP_SESSIONS_PAGE=on
export const app = express();
auth.mount(app);

// #region everywhere
app.get("/account", auth.idpRequired, (req, res) => {
  res.send(`<form method="post" action="/idpauth/sessions">
    <button name="end" value="all">Sign out everywhere</button>
  </form>`);
});
// #endregion
