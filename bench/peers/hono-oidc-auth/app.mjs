// An application with @hono/oidc-auth, set up as its documentation advises (read 2026-11-27):
// - https://github.com/honojs/middleware/blob/main/packages/oidc-auth/README.md: logout and callback
//   before the guard; `initOidcAuthMiddleware`; `OIDC_AUTH_EXTERNAL_URL` behind a proxy. The session
//   keeps what `oidcClaimsHook` takes from the token response, so the access token is one of its
//   claims. Only the refresh interval renews it, which is therefore below the token's lifetime.
// - https://github.com/honojs/node-server/blob/main/README.md: `serve`.
import { serve } from "@hono/node-server";
import {
  getAuth,
  initOidcAuthMiddleware,
  oidcAuthMiddleware,
  processOAuthCallback,
  revokeSession,
} from "@hono/oidc-auth";
import { Hono } from "hono";

const { PORT, ORIGIN, ISSUER, CLIENT_ID, CLIENT_SECRET, API_URL, REFRESH_SECONDS } = process.env;

const app = new Hono();

// The session's cookies have the attribute Secure, whatever the origin. Browsers keep them for
// http://127.0.0.1 too, but the browser of the comparison doesn't.
app.use(async (c, next) => {
  await next();
  const cookies = c.res.headers.getSetCookie();
  if (cookies.length === 0) return;
  c.res.headers.delete("set-cookie");
  for (const cookie of cookies)
    c.res.headers.append("set-cookie", cookie.replace(/; Secure\b/, ""));
});

app.use(
  initOidcAuthMiddleware({
    OIDC_AUTH_SECRET: "a secret of the comparison, longer than it must be",
    OIDC_AUTH_REFRESH_INTERVAL: REFRESH_SECONDS,
    OIDC_AUTH_EXTERNAL_URL: ORIGIN,
    OIDC_ISSUER: ISSUER,
    OIDC_CLIENT_ID: CLIENT_ID,
    OIDC_CLIENT_SECRET: CLIENT_SECRET,
    OIDC_REDIRECT_URI: `${ORIGIN}/callback`,
    OIDC_SCOPES: "openid profile email offline_access",
  }),
);
app.use(async (c, next) => {
  c.set("oidcClaimsHook", async (original, claims, response) => ({
    sub: claims?.sub ?? original?.sub ?? "",
    accessToken: response.access_token,
  }));
  await next();
});

app.get("/logout", async (c) => {
  await revokeSession(c);
  return c.text("You have been successfully logged out!");
});
app.get("/callback", async (c) => processOAuthCallback(c));
app.use("*", oidcAuthMiddleware());

app.get("/page", async (c) => c.json({ user: (await getAuth(c))?.sub }));

app.get("/orders", async (c) => {
  const auth = await getAuth(c);
  const api = await fetch(API_URL, { headers: { Authorization: `Bearer ${auth?.accessToken}` } });
  if (api.ok) return c.json({ orders: [] });
  return c.json({ error: "the API refused the access token" }, 502);
});

serve({ fetch: app.fetch, port: Number(PORT), hostname: "127.0.0.1" });
