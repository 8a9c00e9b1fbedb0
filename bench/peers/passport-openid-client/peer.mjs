import { expressPeer } from "../express-peer.mjs";

const documentation = "https://github.com/panva/openid-client/blob/main";
const read = "2026-11-27";

/** @type {import("../../compare/peer.mjs").Peer} */
export const peer = {
  title: "Passport with openid-client",
  ...expressPeer({
    folder: import.meta.dirname,
    named: ["passport", "openid-client"],
    packages: [
      "passport",
      "openid-client",
      "connect-ensure-login",
      "connect-redis",
      "express-session",
      "redis",
    ],
  }),
  paths: { login: "/login", logout: "/logout" },
  store: "Redis",
  imports: [
    "connect-ensure-login",
    "passport",
    "openid-client",
    "openid-client/passport",
    "express-session",
    "connect-redis",
    "redis",
  ],
  links: [
    {
      url: `${documentation}/examples/passport.ts`,
      read,
      decided: "the routes, the session and its guard, without `ensureLoggedOut` before /login",
    },
    {
      url: `${documentation}/docs/functions/refreshTokenGrant.md`,
      read,
      decided:
        "the refresh; when to refresh, and where the tokens are, is the application's choice",
    },
    {
      url: `${documentation}/docs/functions/buildEndSessionUrl.md`,
      read,
      decided: "the ID token as a hint at sign-out",
    },
    {
      url: `${documentation}/docs/functions/allowInsecureRequests.md`,
      read,
      decided: "a provider over plain HTTP",
    },
    {
      url: "https://www.passportjs.org/concepts/authentication/logout/",
      read,
      decided: "`req.logout` and its callback",
    },
    {
      url: "https://github.com/tj/connect-redis/blob/master/readme.md",
      read,
      decided: "the session store, with `resave: false` and `saveUninitialized: false`",
    },
  ],
  notes: [
    "Its documentation doesn't mention concurrent refreshes: storing tokens, and refreshing them once, is the application's task.",
    "Both tabs of a sign-in share one entry of the session, which the second tab overwrites and the first callback deletes (openid-client's `build/passport.js`, lines 158 and 186).",
    "openid-client waits 30 s for a response by default (`build/index.js`, line 522).",
    "It doesn't verify the signature of ID tokens that the token endpoint sends, as OpenID Connect allows, unless the application calls `enableNonRepudiationChecks`. It needs no keys during a refresh.",
    "connect-redis is version 9, because version 10 needs Node.js 22.",
  ],
};
