// #region traefik
import express from "express";
import { idpAuth } from "idpauth/express";

const auth = idpAuth();
const app = express();
auth.mount(app);

app.get("/auth/check", async (req, res) => {
  const session = await auth.getSession(req);
  if (session !== null) return void res.set("X-User", session.claims.sub).sendStatus(204);
  const isPage =
    req.get("X-Forwarded-Method") === "GET" && req.get("Sec-Fetch-Mode") === "navigate";
  if (!isPage) return void res.sendStatus(401);
  res.redirect(auth.loginUrl(req, { returnTo: req.get("X-Forwarded-Uri") ?? "/" }));
});
// #endregion

export { app };
