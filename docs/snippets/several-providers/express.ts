// #region express
import express from "express";
import { idpAuth } from "idpauth/express";

const app = express();
const auth = idpAuth();
auth.mount(app);

app.get("/reports", auth.idpRequired, async (req, res) => {
  const { user, provider } = await auth.requireSession(req);
  res.json({ hello: user.name, provider });
});

app.get("/payroll", auth.idpRequiredWith({ provider: "staff" }), (req, res) => {
  res.send("The payroll");
});
// #endregion

export { app };
