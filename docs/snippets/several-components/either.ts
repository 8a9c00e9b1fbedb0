import express from "express";
import { idpAuth } from "idpauth/express";

export const app = express();
const staff = idpAuth();
const partners = idpAuth({
  mountPath: "/partners/idpauth/",
  issuer: "https://login.partners.example",
  clientId: "partners",
  clientSecret: "the partners' client secret",
});
staff.mount(app);
partners.mount(app);

// #region either
async function authOf(req: express.Request) {
  for (const auth of [staff, partners]) if ((await auth.getSession(req)) !== null) return auth;
  return undefined;
}

const eitherRequired: express.RequestHandler = async (req, res, next) => {
  const auth = await authOf(req);
  if (auth !== undefined) {
    res.locals["auth"] = auth;
    return auth.idpRequired(req, res, next);
  }
  res.status(401).send(`<h1>Sign in</h1>
    <p><a href="${staff.loginUrl(req)}">Staff</a></p>
    <p><a href="${partners.loginUrl(req)}">Partners</a></p>`);
};

app.get("/news", eitherRequired, async (req, res) => {
  const { user } = await (res.locals["auth"] as typeof staff).requireSession(req);
  res.json({ hello: user.name });
});
// #endregion
