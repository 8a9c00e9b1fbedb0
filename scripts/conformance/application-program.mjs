// The relying party that the suite tests: Express with idpauth, from the packed package. Its settings
// are in the environment, as in production; `ACCOUNTS` has the options of the one API, as JSON.
import { createServer } from "node:http";
import express from "express";
import { idpAuth } from "idpauth/express";

const { ACCOUNTS } = process.env;
/** @type {import("idpauth").ApiOptions | undefined} */
const accounts = ACCOUNTS === undefined ? undefined : JSON.parse(ACCOUNTS);
const auth = idpAuth(accounts === undefined ? {} : { apis: { accounts } });
const app = express();
auth.mount(app);
app.get("/guarded", auth.idpRequired, async (req, res) => {
  const { claims } = await auth.requireSession(req);
  res.type("html").send(`<h1>Hello</h1><p>${claims.sub}</p>`);
});
// As after an API has responded 401: a new token, and with it the request once more.
app.get("/refresh", auth.idpRequired, async (req, res) => {
  const rejected = await auth.getAccessToken(req);
  const token = rejected === null ? null : await auth.getAccessToken(req, { rejected });
  if (token === null || token === rejected) return void res.status(502).send("not refreshed");
  res.send(`userinfo responded ${await userinfoStatus(req, token)}`);
});
app.get("/userinfo", auth.idpRequired, async (req, res) => {
  const token = await auth.getAccessToken(req);
  if (token === null) return void res.status(502).send("no token");
  res.send(`userinfo responded ${await userinfoStatus(req, token)}`);
});
app.get("/accounts", auth.idpRequired, async (req, res) => {
  const { status } = await auth.fetchApi(req, "accounts", "accounts");
  res.send(`the API responded ${status}`);
});
app.use(auth.errorHandler);

/**
 * @param {express.Request} req
 * @param {string} token
 */
async function userinfoStatus(req, token) {
  const { claims } = await auth.requireSession(req);
  const issuer = claims.iss.replace(/\/$/, "");
  const document = await fetch(`${issuer}/.well-known/openid-configuration`);
  const { userinfo_endpoint } = /** @type {{ userinfo_endpoint: string }} */ (
    await document.json()
  );
  const headers = { Authorization: `Bearer ${token}` };
  return (await fetch(userinfo_endpoint, { headers })).status;
}

const server = createServer(app);
server.listen(Number(process.env["PORT"]), "127.0.0.1", () => console.log("application: ready"));
process.once("SIGTERM", () => {
  server.close();
  void auth.close().then(() => process.exit(0));
});
