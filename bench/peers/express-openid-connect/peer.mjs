import { expressPeer } from "../express-peer.mjs";

const documentation = "https://github.com/auth0/express-openid-connect/blob/master";
const read = "2026-11-27";

/** @type {import("../../compare/peer.mjs").Peer} */
export const peer = {
  title: "express-openid-connect",
  ...expressPeer({
    folder: import.meta.dirname,
    named: ["express-openid-connect"],
    packages: ["express-openid-connect", "connect-redis", "express-session", "redis"],
  }),
  paths: { login: "/login", logout: "/logout", backchannelLogout: "/backchannel-logout" },
  store: "Redis",
  imports: ["express-openid-connect", "connect-redis", "redis"],
  links: [
    {
      url: `${documentation}/README.md`,
      read,
      decided: "`idpLogout: true`; errors reach Express's error handler",
    },
    {
      url: `${documentation}/EXAMPLES.md`,
      read,
      decided:
        "`requiresAuth()` on the routes that need a user (2), `isExpired()` and `refresh()` before a call of an API (5), a session store in Redis (10), back-channel logout with the same store (11)",
    },
    {
      url: `${documentation}/FAQ.md`,
      read,
      decided: '`response_type: "code"`, with which a sign-in works over plain HTTP',
    },
    {
      url: "https://github.com/tj/connect-redis/blob/master/readme.md",
      read,
      decided: "how to construct the store; the examples show connect-redis 6",
    },
    {
      url: "https://github.com/auth0/express-openid-connect/issues/408",
      read,
      decided: "nothing; the report of a refresh that another request overwrites, closed",
    },
  ],
  notes: [
    "Its documentation doesn't mention concurrent refreshes. `refresh()` sends a request each time that it's called (`lib/context.js`, line 260).",
    "Every response writes the session that its request has read, and sets the session cookie again (`lib/appSession.js`, lines 436 to 445). A response that ends after a sign-out therefore signs the user in again.",
    "Both tabs of a sign-in share one cookie, which the first callback clears (`lib/transientHandler.js`, line 95).",
    "It doesn't verify the signature of ID tokens that the token endpoint sends, as OpenID Connect allows, so it needs no keys during a refresh.",
    "connect-redis is version 9, because version 10 needs Node.js 22.",
  ],
};
