// An application with better-auth, set up as its documentation advises. The pages are in
// https://github.com/better-auth/better-auth/tree/main/docs/content/docs (read 2026-11-27):
// - integrations/express.mdx: the handler at "/api/auth/*splat", `getSession` with
//   `fromNodeHeaders`.
// - plugins/generic-oauth.mdx: the provider by its discovery document; sign-in by `signIn.social`;
//   the response of `signOut` has the provider's logout URL.
// - adapters/postgresql.mdx: a `Pool` of pg, and `joins`, with which `getSession` is one query.
//   reference/errors/state_mismatch.mdx asks for a database that all instances share.
// - concepts/database.mdx: `getMigrations` creates the tables. A secondary storage in Redis is for
//   those who want to relieve the database, so there is none.
// - concepts/oauth.mdx: `getAccessToken` takes the id of the account's record, and refreshes an
//   expired token before it returns it. `mapProfileToUser`.
// - concepts/session-management.mdx: sessions in the database. The cookie cache is off, as by
//   default: with it, a revoked session stays active until the cache expires.
// - concepts/rate-limit.mdx: off, as all users of the comparison have one address.
import { betterAuth } from "better-auth";
import { getMigrations } from "better-auth/db/migration";
import { fromNodeHeaders, toNodeHandler } from "better-auth/node";
import { genericOAuth } from "better-auth/plugins";
import express from "express";
import pg from "pg";

const { PORT, ORIGIN, ISSUER, CLIENT_ID, CLIENT_SECRET, DATABASE_URL, API_URL } = process.env;

const auth = betterAuth({
  baseURL: ORIGIN,
  secret: "a secret of the comparison, longer than it must be",
  database: new pg.Pool({ connectionString: DATABASE_URL }),
  advanced: { database: { joins: true } },
  rateLimit: { enabled: false },
  plugins: [
    genericOAuth({
      config: [
        {
          providerId: "provider",
          clientId: CLIENT_ID,
          clientSecret: CLIENT_SECRET,
          discoveryUrl: `${ISSUER}/.well-known/openid-configuration`,
          scopes: ["openid", "profile", "email", "offline_access"],
          // A session's user has an id of better-auth's own; /page shows the provider's.
          mapProfileToUser: ({ sub }) => ({ name: sub }),
        },
      ],
    }),
  ],
});

const { runMigrations } = await getMigrations(auth.options);
await runMigrations();

const app = express();
app.all("/api/auth/*splat", toNodeHandler(auth));

app.get("/page", async (request, response) => {
  const session = await auth.api.getSession({ headers: fromNodeHeaders(request.headers) });
  if (session === null) response.status(401).json({ error: "not signed in" });
  else response.json({ user: session.user.name });
});

app.get("/orders", async (request, response) => {
  const headers = fromNodeHeaders(request.headers);
  const session = await auth.api.getSession({ headers });
  if (session === null) return void response.status(401).json({ error: "not signed in" });
  const accounts = await auth.api.listUserAccounts({ headers });
  const account = accounts.find(({ providerId }) => providerId === "provider");
  const { accessToken } = await auth.api.getAccessToken({
    body: { accountId: account.id },
    headers,
  });
  const api = await fetch(API_URL, { headers: { Authorization: `Bearer ${accessToken}` } });
  if (api.ok) response.json({ orders: [] });
  else response.status(502).json({ error: "the API refused the access token" });
});

app.listen(Number(PORT), "127.0.0.1");
