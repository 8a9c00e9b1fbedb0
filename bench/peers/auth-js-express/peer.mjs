import { expressPeer } from "../express-peer.mjs";

const documentation = "https://authjs.dev";
const read = "2026-11-27";

/** Posts the form of its sign-in or sign-out page. */
async function post(browser, path) {
  const { csrfToken } = (await browser.get("/auth/csrf")).json();
  return browser.navigate(path, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ csrfToken, callbackUrl: "/" }).toString(),
  });
}

const begin = (browser) => post(browser, "/auth/signin/provider");

/** @type {import("../../compare/peer.mjs").Peer} */
export const peer = {
  title: "Auth.js on Express",
  ...expressPeer({
    folder: import.meta.dirname,
    named: ["@auth/express"],
    packages: ["@auth/express", "@auth/unstorage-adapter", "unstorage", "ioredis"],
    env: {
      AUTH_SECRET: "a secret of the comparison, longer than it must be",
      AUTH_TRUST_HOST: "true",
    },
    probe: {
      user: { name: "Ada", email: "ada@example.com", sub: "ada" },
      expires: "2026-12-27T12:00:00.000Z",
    },
  }),
  paths: { login: "/auth/signin", logout: "/auth/signout", probe: "/auth/session" },
  begin,
  signIn: async (browser) => browser.follow((await begin(browser)).location),
  signOut: (browser) => post(browser, "/auth/signout"),
  store: "Redis",
  imports: ["@auth/express", "@auth/unstorage-adapter", "unstorage", "unstorage/drivers/redis"],
  links: [
    {
      url: `${documentation}/guides/refresh-token-rotation`,
      read,
      decided:
        "the refresh in the `session` callback, as its database strategy shows, and a new sign-in if it fails",
    },
    {
      url: `${documentation}/getting-started/adapters/unstorage`,
      read,
      decided:
        "an official adapter that works with a Redis of one's own; `@auth/upstash-redis-adapter` needs Upstash's HTTP API",
    },
    {
      url: "https://unstorage.unjs.io/drivers/redis",
      read,
      decided: "the driver, which needs ioredis 5",
    },
    {
      url: `${documentation}/reference/express`,
      read,
      decided: "the handler, `getSession` and the guard",
    },
    {
      url: `${documentation}/guides/integrating-third-party-backends`,
      read,
      decided: "the access token in `session.accessToken`",
    },
    {
      url: `${documentation}/guides/configuring-oauth-providers`,
      read,
      decided: 'a provider of type "oidc" with a scope of its own',
    },
    {
      url: `${documentation}/getting-started/deployment`,
      read,
      decided: "`AUTH_SECRET`, and `AUTH_TRUST_HOST` for a server of one's own",
    },
    {
      url: "https://github.com/nextauthjs/next-auth/issues/3599",
      read,
      decided: "`events.signIn` stores the tokens of each sign-in",
    },
  ],
  notes: [
    "Its repository calls `@auth/express` experimental, and its README recommends better-auth for new projects.",
    "Its guide says that simultaneous refreshes can race, and that there is no solution yet.",
    "Its sessions are in Redis, because the guide's JWT strategy doesn't work on Express when the provider rotates: `getSession` drops the cookie with the refreshed tokens (`@auth/express`'s `index.js`, line 167), so the next request sends the spent refresh token again.",
    "Without `events.signIn`, a new sign-in of a known user wouldn't replace tokens that the provider has revoked (`@auth/core`'s `lib/actions/callback/handle-login.js`, lines 179 to 199).",
    "The guide treats each failed refresh alike, so an outage of the provider redirects the user to the sign-in.",
    "The guide's refresh doesn't read the ID token, so it needs no keys, and its `fetch` has no time limit of its own.",
    "Both tabs of a sign-in share one cookie, which the second tab overwrites, so only the second one succeeds.",
  ],
};
