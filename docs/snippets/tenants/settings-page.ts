import express from "express";
import { hasClaim, providerSource } from "idpauth";
import { idpAuth } from "idpauth/express";
import { customers, encrypt } from "./database.js";

export const app = express();
const auth = idpAuth({
  providers: providerSource({ find: (key) => customers.provider(key) }),
});
auth.mount(app);

// #region settings
app.use(auth.csrf);

const administrators = auth.idpRequiredWith({
  provider: (req) => req.params.org,
  allow: hasClaim("groups", "admin"),
});

app.get("/t/:org/sso", administrators, (req, res) => {
  const { redirectUri, loginUrl } = auth.providerAddresses(String(req.params.org));
  res.json({ redirectUri, loginUrl }); // what to register at the provider
});

app.post("/t/:org/sso", administrators, express.json(), async (req, res) => {
  const key = String(req.params.org);
  const { issuer, clientId, clientSecret } = req.body;
  const findings = await auth.checkProvider({ issuer, clientId, clientSecret }, { key });
  if (findings.some(({ severity }) => severity === "error")) {
    res.status(422).json(findings); // each with `code`, `message` and `remedy`
    return;
  }
  await customers.save({ key, issuer, clientId, encryptedSecret: encrypt(clientSecret) });
  auth.forgetProvider(key);
  res.json({ saved: true });
});
// #endregion
