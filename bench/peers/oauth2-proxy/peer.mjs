import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { programBehindProxy } from "../program-behind-proxy.mjs";
import { binary, build, builtModules, builtVersion } from "./binary.mjs";

const DOCUMENTATION = "https://oauth2-proxy.github.io/oauth2-proxy";
const READ = "2026-11-27";

/**
 * @param {import("../../compare/peer.mjs").StartOptions} options
 * @param {number} upstream port
 * @param {Record<string, string>} [more] settings
 */
function proxy(options, upstream, more = {}) {
  const { port, origin, issuer, clientId, clientSecret, redisUrl, refreshSeconds } = options;
  return {
    command: binary,
    args: ["--config", fileURLToPath(new URL("oauth2-proxy.cfg", import.meta.url))],
    env: {
      OAUTH2_PROXY_HTTP_ADDRESS: `127.0.0.1:${port}`,
      OAUTH2_PROXY_UPSTREAMS: `http://127.0.0.1:${upstream}/`,
      OAUTH2_PROXY_OIDC_ISSUER_URL: issuer,
      OAUTH2_PROXY_CLIENT_ID: clientId,
      OAUTH2_PROXY_CLIENT_SECRET: clientSecret,
      OAUTH2_PROXY_REDIRECT_URL: `${origin}/oauth2/callback`,
      OAUTH2_PROXY_BACKEND_LOGOUT_URL: `${issuer}/end-session?id_token_hint={id_token}`,
      OAUTH2_PROXY_REDIS_CONNECTION_URL: redisUrl,
      // A second less than the access token lives. The documentation's own margin is a minute.
      OAUTH2_PROXY_COOKIE_REFRESH: `${refreshSeconds}s`,
      OAUTH2_PROXY_COOKIE_SECRET: "0123456789abcdef0123456789abcdef",
      ...more,
    },
    port,
  };
}

/** @type {import("../../compare/peer.mjs").Peer} */
export const peer = {
  title: "oauth2-proxy",
  framework: "oauth2-proxy with every route skipped",
  prepare: ({ say }) => build(say),
  version: builtVersion,
  async start(options) {
    const upstream = await options.freePort();
    const headers = { token: "x-forwarded-access-token", user: "x-forwarded-user" };
    return [programBehindProxy(options, upstream, headers), proxy(options, upstream)];
  },
  async bare(options) {
    const upstream = await options.freePort();
    return [
      programBehindProxy(options, upstream),
      proxy(options, upstream, {
        OAUTH2_PROXY_SKIP_AUTH_ROUTES: "^/",
        OAUTH2_PROXY_SESSION_STORE_TYPE: "cookie",
      }),
    ];
  },
  paths: {
    login: "/oauth2/start?rd=/page",
    logout: "/oauth2/sign_out",
    probe: "/oauth2/userinfo",
  },
  // Not further: the page after it is protected, so it begins the next sign-in.
  signOut: (browser) => browser.navigate("/oauth2/sign_out"),
  store: "Redis",
  size: async () => ({
    bytes: statSync(binary).size,
    packages: builtModules(),
    unit: "Go modules",
  }),
  links: [
    {
      url: `${DOCUMENTATION}/configuration/session_storage`,
      read: READ,
      decided: "sessions in Redis, `cookie_refresh` and `cookie_expire`",
    },
    {
      url: `${DOCUMENTATION}/configuration/providers/openid_connect`,
      read: READ,
      decided: "the provider `oidc`",
    },
    {
      url: `${DOCUMENTATION}/configuration/overview`,
      read: READ,
      decided: "PKCE, `cookie_csrf_per_request`, `pass_access_token`",
    },
    { url: `${DOCUMENTATION}/features/endpoints`, read: READ, decided: "login, logout and probe" },
  ],
  notes: [
    "Its documentation says that only the Redis store can lock a session during a refresh. The lock lasts 2 seconds, and a request waits for it for at most 5 seconds. Neither can be configured. If the provider takes longer than 2 seconds, another request sends the same refresh token.",
    "It refreshes by the session's age (`cookie_refresh`, here 7 seconds), whether or not the access token has expired. If the refresh fails after the access token has expired, it deletes the session. With the documentation's margin of a minute, users who are active during that minute survive a shorter outage, but `invalid_client` and `invalid_grant` end the session even then.",
    "It sends a failed token request twice, because it tries the other way to authenticate.",
    "It has no back-channel logout.",
    "It responds to the probe itself, but the bare proxy passes it on to the application behind. The memory includes that application.",
  ],
};
