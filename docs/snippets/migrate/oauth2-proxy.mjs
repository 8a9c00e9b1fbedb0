// #region check
import express from "express";
import { allOf, emailDomain, hasClaim } from "idpauth";
import { idpAuth } from "idpauth/express";

const app = express();
const auth = idpAuth();
auth.mount(app);

const mayPass = auth.idpRequiredWith({
  allow: allOf(emailDomain("example.com"), hasClaim("groups", "staff")), // --email-domain, --allowed-group
});

app.get("/auth/check", mayPass, async (req, res) => {
  const { claims, user } = await auth.requireSession(req);
  res.set("X-Auth-Request-User", claims.sub);
  if (user.email !== null) res.set("X-Auth-Request-Email", user.email);
  res.sendStatus(204);
});
// #endregion

export { app };
