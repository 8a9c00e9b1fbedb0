import express from "express";
import { idpAuth } from "idpauth/express";

export const app = express();
const auth = idpAuth();
auth.mount(app);

// #region session
app.get("/profile", auth.idpRequired, async (req, res) => {
  const session = await auth.requireSession(req);
  res.json({
    name: session.user.name,
    locale: session.claims["locale"],
    since: session.signedInAt,
  });
});
// #endregion
