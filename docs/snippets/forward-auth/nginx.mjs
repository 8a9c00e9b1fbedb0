import express from "express";
import { idpAuth } from "idpauth/express";

const auth = idpAuth();
const app = express();
auth.mount(app);

app.get("/auth/check", auth.idpRequired, async (req, res) => {
  const { claims } = await auth.requireSession(req);
  res.set("X-User", claims.sub).sendStatus(204);
});

app.all("/auth/login", (req, res) => {
  const isPage = req.method === "GET" && req.get("Sec-Fetch-Mode") === "navigate";
  const returnTo = req.get("X-Original-URI");
  if (!isPage || returnTo === undefined) return void res.sendStatus(401);
  res.redirect(auth.loginUrl(req, { returnTo }));
});

app.listen(3000);
