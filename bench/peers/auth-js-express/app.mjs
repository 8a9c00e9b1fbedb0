// An application with Auth.js on Express, set up as its documentation advises (read 2026-11-27):
// - https://authjs.dev/guides/refresh-token-rotation: the refresh, in the `session` callback of its
//   database strategy, and a new sign-in if it fails. With its JWT strategy, the refreshed tokens
//   would be lost: on Express, `getSession` drops the cookie that the callback's result is in.
// - https://authjs.dev/getting-started/adapters/unstorage: an official adapter, here with
//   https://unstorage.unjs.io/drivers/redis. The official Redis adapter needs Upstash's HTTP API.
// - https://authjs.dev/reference/express: the handler, `getSession`, and the guard
//   `authenticatedUser`. In Express 5, "/auth/*" is no valid path.
// - https://authjs.dev/guides/integrating-third-party-backends: `session.accessToken`.
// - https://authjs.dev/guides/configuring-oauth-providers#use-your-own-provider: a provider of type
//   "oidc" with a scope of its own.
// - https://authjs.dev/getting-started/deployment: AUTH_SECRET, and AUTH_TRUST_HOST for a server of
//   one's own.
// - https://github.com/nextauthjs/next-auth/issues/3599 and 5924: a further sign-in of the same
//   user doesn't store its tokens, so the application does it in `events.signIn`.
import { ExpressAuth, getSession } from "@auth/express";
import { UnstorageAdapter } from "@auth/unstorage-adapter";
import express from "express";
import { createStorage } from "unstorage";
import redisDriver from "unstorage/drivers/redis";

const { PORT, ISSUER, CLIENT_ID, CLIENT_SECRET, REDIS_URL, API_URL } = process.env;

const storage = createStorage({ driver: redisDriver({ url: REDIS_URL }) });
const adapter = UnstorageAdapter(storage);

const discovery = await fetch(`${ISSUER}/.well-known/openid-configuration`);
const { token_endpoint } = await discovery.json();

async function accountOf(user) {
  const key = await storage.getItem(`user:account:by-user-id:${user.id}`);
  return storage.getItem(key);
}

async function refreshed(account) {
  const response = await fetch(token_endpoint, {
    method: "POST",
    body: new URLSearchParams({
      client_id: CLIENT_ID,
      client_secret: CLIENT_SECRET,
      grant_type: "refresh_token",
      refresh_token: account.refresh_token,
    }),
  });
  const tokensOrError = await response.json();
  if (!response.ok) throw tokensOrError;
  const newAccount = {
    ...account,
    access_token: tokensOrError.access_token,
    expires_at: Math.floor(Date.now() / 1000 + tokensOrError.expires_in),
    refresh_token: tokensOrError.refresh_token ?? account.refresh_token,
  };
  await adapter.linkAccount(newAccount);
  return newAccount;
}

const authConfig = {
  adapter,
  providers: [
    {
      id: "provider",
      name: "Provider",
      type: "oidc",
      issuer: ISSUER,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      authorization: { params: { scope: "openid profile email offline_access" } },
    },
  ],
  callbacks: {
    async session({ session, user }) {
      let account = await accountOf(user);
      if (account.expires_at * 1000 < Date.now()) {
        try {
          account = await refreshed(account);
        } catch (error) {
          console.error("Error refreshing access_token", error);
          session.error = "RefreshTokenError";
        }
      }
      session.user.sub = account.providerAccountId;
      session.accessToken = account.access_token;
      return session;
    },
  },
  events: {
    signIn: ({ user, account }) => adapter.linkAccount({ ...account, userId: user.id }),
  },
};

async function authenticatedUser(request, response, next) {
  const session = response.locals.session ?? (await getSession(request, authConfig));
  response.locals.session = session;
  if (session?.user) next();
  else response.redirect("/auth/signin");
}

const app = express();

app.use("/auth", ExpressAuth(authConfig));

// Everybody may read it: sign-in and sign-out end here.
app.get("/", (request, response) => void response.send('<a href="/page">Page</a>'));

app.get("/page", authenticatedUser, (request, response) => {
  response.json({ user: response.locals.session.user.sub });
});

app.get("/orders", authenticatedUser, async (request, response) => {
  const { session } = response.locals;
  if (session.error === "RefreshTokenError") return response.redirect("/auth/signin");
  const api = await fetch(API_URL, {
    headers: { Authorization: `Bearer ${session.accessToken}` },
  });
  if (api.ok) response.json({ orders: [] });
  else response.status(502).json({ error: "the API refused the access token" });
});

app.listen(Number(PORT), "127.0.0.1");
