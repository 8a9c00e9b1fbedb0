// The application under test, as one process: Express with guarded pages, and APIs that it calls
// and that its proxy reaches. Its settings are in the environment, as in production; `INTEROP` has
// the options that have no variable.
import { createServer } from "node:http";
import express from "express";
import { hasClaim } from "idpauth";
import { idpAuth } from "idpauth/express";
import { redisStore } from "idpauth/redis";
import { createClient } from "redis";

/**
 * @typedef {object} ProgramOptions
 * @property {Parameters<typeof idpAuth>[0]} [options] those that have no variable
 * @property {string} [redis] its URL; without it, sessions are in memory
 * @property {string} [acr] that /strong requires
 */

/** @type {ProgramOptions} */
const { options = {}, redis, acr = "2" } = JSON.parse(process.env["INTEROP"] ?? "{}");

let ahead = 0;
const now = Date.now.bind(Date);
Date.now = () => now() + ahead;

const store = redis === undefined ? undefined : await openRedis(redis);
const auth = idpAuth({
  ...options,
  ...(store && { store }),
  log: (line) => process.send?.({ line }),
});
const app = express();
auth.mount(app);
const names = Object.keys(options.apis ?? {});
for (const name of names) app.use(auth.proxyApi(name));

app.get("/", (_req, res) => void res.type("html").send("<h1>The application</h1>"));
app.get("/guarded", auth.idpRequired, showUser);
app.get("/fresh", auth.idpRequiredWith({ maxAge: 30 }), showUser);
app.get("/strong", auth.idpRequiredWith({ acr }), showUser);
app.get("/admins", auth.idpRequiredWith({ allow: hasClaim("groups", "admins") }), showUser);
app.get("/role", auth.idpRequiredWith({ allow: hasClaim("roles", "admin") }), showUser);
app.get("/api/session", auth.idpRequired, async (req, res) => {
  const { user, claims, provider } = await auth.requireSession(req);
  res.json({ user, claims, provider });
});
app.get("/api/userinfo-token", auth.idpRequired, async (req, res) => {
  const token = await auth.getAccessToken(req);
  res.json({ isPresent: typeof token === "string" });
});
app.get("/api/userinfo", auth.idpRequired, async (req, res) => {
  const { claims } = await auth.requireSession(req);
  const discovery = await fetch(`${claims.iss}/.well-known/openid-configuration`);
  const { userinfo_endpoint } = /** @type {{ userinfo_endpoint: string }} */ (
    await discovery.json()
  );
  const headers = { Authorization: `Bearer ${await auth.getAccessToken(req)}` };
  const answer = await fetch(userinfo_endpoint, { headers });
  res.status(answer.status).json(await answer.json());
});
app.get("/call/:api", auth.idpRequired, async (req, res) => {
  const answer = await auth.fetchApi(req, String(req.params["api"]), "whoami");
  res.status(answer.status).json(await answer.json());
});
app.use(auth.errorHandler);

const server = createServer(app);
server.on("upgrade", (...upgrade) => auth.proxyUpgrade(...upgrade) || upgrade[1].destroy());
server.listen(Number(process.env["PORT"]), "127.0.0.1", () => console.log("application: ready"));

process.on("message", (/** @type {{ ahead: number }} */ message) => {
  ahead = message.ahead * 1000;
  process.send?.({ ahead: message.ahead });
});
process.once("SIGTERM", () => {
  server.close();
  void auth.close().then(() => process.exit(0));
});

/**
 * @param {express.Request} req
 * @param {express.Response} res
 */
async function showUser(req, res) {
  const { user } = await auth.requireSession(req);
  res.type("html").send(`<h1>Hello</h1><p id="email">${String(user.email)}</p>`);
}

/** @param {string} url */
async function openRedis(url) {
  const client = createClient({ url, disableOfflineQueue: true });
  client.on("error", () => undefined);
  await client.connect();
  return redisStore(client);
}
