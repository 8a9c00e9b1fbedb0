// An application with Passport and openid-client's strategy, set up as their documentation advises
// (read 2026-11-27):
// - https://github.com/panva/openid-client/blob/main/examples/passport.ts: the routes, the session,
//   `ensureLoggedIn`. Its `ensureLoggedOut` before /login is left out, because a user whose tokens
//   the provider no longer accepts must be able to sign in again.
// - https://github.com/panva/openid-client/blob/main/docs/functions/refreshTokenGrant.md: the
//   refresh. Where tokens are stored, and when to refresh them, is up to the application: here they
//   are in the user that Passport stores in the session.
// - https://github.com/panva/openid-client/blob/main/docs/functions/buildEndSessionUrl.md: the ID
//   token as a hint.
// - https://github.com/panva/openid-client/blob/main/docs/functions/allowInsecureRequests.md: a
//   provider over plain HTTP.
// - https://www.passportjs.org/concepts/authentication/logout/: `req.logout` and its callback.
// - https://github.com/tj/connect-redis/blob/master/readme.md: the session store, with
//   `resave: false` and `saveUninitialized: false`.
import { ensureLoggedIn } from "connect-ensure-login";
import { RedisStore } from "connect-redis";
import express from "express";
import session from "express-session";
import * as client from "openid-client";
import { Strategy } from "openid-client/passport";
import passport from "passport";
import { createClient } from "redis";

const { PORT, ORIGIN, ISSUER, CLIENT_ID, CLIENT_SECRET, REDIS_URL, API_URL } = process.env;

const redisClient = createClient({ url: REDIS_URL });
redisClient.connect().catch(console.error);

const config = await client.discovery(new URL(ISSUER), CLIENT_ID, CLIENT_SECRET, undefined, {
  execute: [client.allowInsecureRequests],
});

const app = express();

app.use(
  session({
    store: new RedisStore({ client: redisClient }),
    resave: false,
    saveUninitialized: false,
    secret: "a secret of the comparison, longer than it must be",
  }),
);
app.use(passport.authenticate("session"));

function tokensOf({ access_token, refresh_token, id_token, expires_in }) {
  return { access_token, refresh_token, id_token, expires_at: Date.now() + expires_in * 1000 };
}

passport.use(
  "openid",
  new Strategy(
    {
      config,
      scope: "openid profile email offline_access",
      callbackURL: new URL("/login", ORIGIN),
    },
    (tokens, verified) => verified(null, { sub: tokens.claims().sub, ...tokensOf(tokens) }),
  ),
);
passport.serializeUser((user, done) => done(null, user));
passport.deserializeUser((user, done) => done(null, user));

app.get("/login", passport.authenticate("openid", { successRedirect: "/" }));

app.get("/logout", (request, response, next) => {
  const { id_token } = request.user ?? {};
  request.logout((error) => {
    if (error) return next(error);
    const url = client.buildEndSessionUrl(config, {
      post_logout_redirect_uri: ORIGIN,
      ...(id_token !== undefined && { id_token_hint: id_token }),
    });
    response.redirect(url.href);
  });
});

// Everybody may read it: sign-in and sign-out end here.
app.get("/", (request, response) => void response.send('<a href="/page">Page</a>'));

app.get("/page", ensureLoggedIn("/login"), (request, response) => {
  response.json({ user: request.user.sub });
});

app.get("/orders", ensureLoggedIn("/login"), async (request, response) => {
  const { user } = request;
  if (user.expires_at <= Date.now()) {
    const tokens = tokensOf(await client.refreshTokenGrant(config, user.refresh_token));
    // `user` is the object in the session, so express-session stores what changes in it. A provider
    // that doesn't rotate sends no new refresh token.
    for (const [name, value] of Object.entries(tokens)) if (value !== undefined) user[name] = value;
  }
  const api = await fetch(API_URL, { headers: { Authorization: `Bearer ${user.access_token}` } });
  if (api.ok) response.json({ orders: [] });
  else response.status(502).json({ error: "the API refused the access token" });
});

app.listen(Number(PORT), "127.0.0.1");
