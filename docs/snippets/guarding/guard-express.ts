import express from "express";
import { idpAuth } from "idpauth/express";

const app = express();
const auth = idpAuth();
auth.mount(app);

// #region guard
app.get("/reports", auth.idpRequired, async (req, res) => {
  const { user } = await auth.requireSession(req);
  res.json({ hello: user.name });
});
// #endregion

export { app };
