import { providerSource } from "idpauth";
import { customers } from "./database.js";

const source = providerSource({ find: (key) => customers.provider(key) });

// #region subdomains
import express from "express";
import { idpAuth } from "idpauth/express";

const origin = process.env["APP_ORIGIN"] ?? "http://localhost:3000";
const originOf = (key: string) => origin.replace("://", `://${key}.`);
const customerOf = (req: express.Request) => req.subdomains[0];

const app = express();
app.set("subdomain offset", new URL(origin).hostname.split(".").length);

const auth = idpAuth({
  baseUrl: [origin, originOf("*")],
  providers: source,
  loginParams: ["login_hint"], // otherwise, the redirect to another origin loses it
});

app.get("/idpauth/login/", async (req, res, next) => {
  const key = req.query["provider"];
  const customer = typeof key === "string" ? await customers.find(key) : undefined;
  if (customer === undefined || customer.key === customerOf(req)) next();
  else res.redirect(originOf(customer.key) + req.originalUrl);
});
auth.mount(app);

app.get("/reports", auth.idpRequiredWith({ provider: customerOf }), async (req, res) => {
  const { user } = await auth.requireSession(req);
  res.json({ customer: user.provider, hello: user.name });
});
// #endregion

export { app };
