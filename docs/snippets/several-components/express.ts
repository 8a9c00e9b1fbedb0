// #region express
import express from "express";
import { idpAuth } from "idpauth/express";

const app = express();
const staff = idpAuth();
const partners = idpAuth({
  mountPath: "/partners/idpauth/",
  issuer: "https://login.partners.example",
  clientId: process.env["PARTNERS_CLIENT_ID"],
  clientSecret: process.env["PARTNERS_CLIENT_SECRET"],
});
staff.mount(app);
partners.mount(app);

app.get("/reports", staff.idpRequired, async (req, res) => {
  const { user } = await staff.requireSession(req);
  res.json({ hello: user.name });
});

app.get("/partners/orders", partners.idpRequired, async (req, res) => {
  const { user } = await partners.requireSession(req);
  res.json({ hello: user.name });
});
// #endregion

export { app };
