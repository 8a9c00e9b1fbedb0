// An application with express-openid-connect, set up as its documentation advises (read
// 2026-11-27):
// - https://github.com/auth0/express-openid-connect/blob/master/README.md: `idpLogout`; errors
//   reach Express's error handler.
// - https://github.com/auth0/express-openid-connect/blob/master/EXAMPLES.md: 2, `requiresAuth()`
//   on the routes that need a user; 5, `isExpired()` and `refresh()` before a call of an API; 10,
//   a session store in Redis; 11, back-channel logout with the same store.
// - https://github.com/auth0/express-openid-connect/blob/master/FAQ.md: with
//   `response_type: "code"`, a sign-in works over plain HTTP.
// - https://github.com/tj/connect-redis/blob/master/readme.md: how to construct the store. The
//   examples above show connect-redis 6, whose client is in legacy mode.
import { RedisStore } from "connect-redis";
import express from "express";
import oidc from "express-openid-connect";
import { createClient } from "redis";

const { PORT, ORIGIN, ISSUER, CLIENT_ID, CLIENT_SECRET, REDIS_URL, API_URL } = process.env;
const { auth, requiresAuth } = oidc;

const redisClient = createClient({ url: REDIS_URL });
redisClient.connect().catch(console.error);

const app = express();

app.use(
  auth({
    issuerBaseURL: ISSUER,
    baseURL: ORIGIN,
    clientID: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    secret: "a secret of the comparison, longer than it must be",
    authRequired: false,
    idpLogout: true,
    authorizationParams: {
      response_type: "code",
      scope: "openid profile email offline_access",
    },
    session: { store: new RedisStore({ client: redisClient }) },
    backchannelLogout: true,
  }),
);

// Everybody may read it: sign-in and sign-out end here.
app.get("/", (request, response) => void response.send('<a href="/page">Page</a>'));

app.get("/page", requiresAuth(), (request, response) => {
  response.json({ user: request.oidc.user.sub });
});

app.get("/orders", requiresAuth(), async (request, response) => {
  let { token_type, access_token, isExpired, refresh } = request.oidc.accessToken;
  if (isExpired()) ({ access_token } = await refresh());
  const api = await fetch(API_URL, { headers: { Authorization: `${token_type} ${access_token}` } });
  if (api.ok) response.json({ orders: [] });
  else response.status(502).json({ error: "the API refused the access token" });
});

app.listen(Number(PORT), "127.0.0.1");
