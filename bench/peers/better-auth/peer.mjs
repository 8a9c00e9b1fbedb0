import { missingPostgres } from "../../../scripts/interop/keycloak/postgres.mjs";
import { expressPeer } from "../express-peer.mjs";

const documentation = "https://github.com/better-auth/better-auth/blob/main/docs/content/docs";
const read = "2026-11-27";

const express = expressPeer({
  folder: import.meta.dirname,
  named: ["better-auth"],
  packages: ["better-auth", "pg"],
  probe: {
    session: {
      expiresAt: "2026-12-04T16:00:00.000Z",
      token: "3hJ7nQvWc0rYp5uXbKzLmTfSgDeRaOiH",
      createdAt: "2026-11-27T16:00:00.000Z",
      updatedAt: "2026-11-27T16:00:00.000Z",
      ipAddress: "",
      userAgent: "",
      userId: "Vb8sXqJ2mTzK4nRwLyDcFgHpQeUaOiSt",
      id: "Zk1wNvB6yPxM3rTqSdJhGfLcKaEuIoVb",
    },
    user: {
      name: "ada",
      email: "ada@example.com",
      emailVerified: true,
      image: null,
      createdAt: "2026-11-27T16:00:00.000Z",
      updatedAt: "2026-11-27T16:00:00.000Z",
      id: "Vb8sXqJ2mTzK4nRwLyDcFgHpQeUaOiSt",
    },
  },
});

/** As a page's script calls better-auth's API, which compares the header Origin with `baseURL`. */
async function post(browser, path, body) {
  const { url } = await browser.get("/api/auth/ok");
  return browser.get(path, {
    method: "POST",
    headers: { "content-type": "application/json", origin: url.origin },
    body: JSON.stringify(body),
  });
}

const begin = (browser) =>
  post(browser, "/api/auth/sign-in/social", { provider: "provider", callbackURL: "/page" });

/** @type {import("../../compare/peer.mjs").Peer} */
export const peer = {
  title: "better-auth",
  ...express,
  needs: ["postgres"],
  prepare: async (context) => (await express.prepare(context)) ?? missingPostgres(),
  start: (options) =>
    express.start(options).map((program) => ({
      ...program,
      env: { ...program.env, DATABASE_URL: options.postgresUrl },
    })),
  paths: {
    login: "/api/auth/sign-in/social",
    logout: "/api/auth/sign-out",
    probe: "/api/auth/get-session",
  },
  begin,
  signIn: async (browser) => browser.follow((await begin(browser)).json().url),
  async signOut(browser) {
    const { url } = (await post(browser, "/api/auth/sign-out", {})).json();
    return browser.follow(url);
  },
  store: "PostgreSQL",
  imports: ["better-auth", "better-auth/node", "better-auth/plugins", "pg"],
  links: [
    {
      url: `${documentation}/integrations/express.mdx`,
      read,
      decided: "the handler, and `getSession` on the routes that need a user",
    },
    {
      url: `${documentation}/plugins/generic-oauth.mdx`,
      read,
      decided: "the provider, sign-in and sign-out",
    },
    {
      url: `${documentation}/concepts/oauth.mdx`,
      read,
      decided: "`listUserAccounts` and `getAccessToken` before a call of an API",
    },
    {
      url: `${documentation}/adapters/postgresql.mdx`,
      read,
      decided: "a database that several processes share, and `joins`",
    },
    {
      url: `${documentation}/concepts/database.mdx`,
      read,
      decided: "the tables; no secondary storage, which is there to relieve the database",
    },
    {
      url: `${documentation}/concepts/session-management.mdx`,
      read,
      decided: "no cookie cache, which is off by default and delays revocation",
    },
    {
      url: `${documentation}/concepts/rate-limit.mdx`,
      read,
      decided: "no rate limit, as all users of the comparison have one address",
    },
    {
      url: `${documentation}/reference/errors/state_mismatch.mdx`,
      read,
      decided: "nothing: it says that of several tabs, only the one opened last can sign in",
    },
  ],
  notes: [
    "Its documentation doesn't mention concurrent refreshes of a provider's token. `getAccessToken` reads the account, refreshes and writes without a lock (`api/routes/account.mjs`, line 376 to 388). How many requests refresh depends on how many have read the account before the first refresh is written.",
    "After a reuse, the account keeps an access token that the provider has revoked but that hasn't expired, so `getAccessToken` returns it until then and the API refuses it. All sessions of a user share the account, and with it the damage, until one of them signs in again.",
    "`getAccessToken` refreshes a token that has less than five seconds left.",
    "Each request reads the session from the database. Its documentation offers a cookie cache for speed, which delays revocation.",
    "`getAccessToken` is error 400 whatever the reason, a timeout and a 503 of the provider too (`api/routes/account.mjs`, line 410), but it keeps the account's tokens. The token request has no time limit.",
    "A sign-out ends the session. It doesn't revoke the provider's tokens, which stay in the account's record.",
  ],
};
