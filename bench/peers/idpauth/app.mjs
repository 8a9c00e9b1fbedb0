// idpauth on Express, with its Redis store.
// - docs/start/express.md: the application
// - docs/how-to/sessions.md: a store for several processes
// - docs/how-to/signing-out.md: back-channel logout
// - docs/how-to/call-an-api.md: requests to the API
import { createRequire } from "node:module";
import { idpAuth } from "idpauth/express";
import { redisStore } from "idpauth/redis";

// The project's own packages. The folder above has other products'.
const load = createRequire(new URL("../../../package.json", import.meta.url));
const express = load("express");
const { createClient } = load("redis");

const { PORT, ORIGIN, ISSUER, CLIENT_ID, CLIENT_SECRET, REDIS_URL, API_URL } = process.env;

const client = createClient({ url: REDIS_URL, disableOfflineQueue: true });
client.on("error", (error) => console.error(error));
await client.connect();

const auth = idpAuth({
  env: {},
  baseUrl: ORIGIN,
  issuer: ISSUER,
  clientId: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
  secretKey: "a secret key of the comparison, longer than it must be",
  scope: "openid profile email offline_access",
  store: redisStore(client),
  backchannelLogout: true,
  apis: { shop: { url: new URL(".", API_URL).href } },
});

const app = express();
auth.mount(app);

app.get("/page", auth.idpRequired, async (req, res) => {
  const { claims } = await auth.requireSession(req);
  res.json({ user: claims.sub });
});

app.get("/orders", auth.idpRequired, async (req, res) => {
  const response = await auth.fetchApi(req, "shop", "orders");
  if (response.ok) res.json(await response.json());
  else res.status(502).json({ error: "the API refused the access token" });
});

app.listen(Number(PORT), "127.0.0.1");
