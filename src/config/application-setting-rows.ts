import { parseUrl } from "../http/redirects.js";
import * as kind from "./setting-kinds.js";

/** The settings of the application: its address, the paths of the endpoints, and debug mode. */
export const APPLICATION_SETTINGS = {
  /** The origin that browsers use, such as `https://app.example`; null: taken from each request. */
  baseUrl: {
    env: "BASE_URL",
    kind: kind.origin,
    default: null,
    defaultText: "unset: each request's scheme and Host header, with warning W001",
    meaning:
      "The application's origin, as browsers use it. The cookie and the callback belong to this origin. The value `/` in the environment means " +
      "unset, because Vite's tools set this value.",
    remedyFor: withoutPath,
  },
  /** Always starts and ends with a slash after reading. */
  mountPath: {
    env: "IDP_MOUNT_PATH",
    kind: kind.mountPath,
    default: "/idpauth/",
    meaning:
      "The path of the endpoints. The redirect URI to register at the provider is BASE_URL + IDP_PATH_PREFIX + this path + `login-callback`.",
  },
  /** Empty, or with a slash at the start and none at the end. */
  pathPrefix: {
    env: "IDP_PATH_PREFIX",
    kind: kind.pathPrefix,
    default: "",
    defaultText: "unset",
    meaning:
      "The path prefix that a reverse proxy strips before it passes a request on, such as `/portal`. Links, redirects and the redirect URI include it.",
  },
  trustProxy: {
    env: "IDP_TRUST_PROXY",
    kind: kind.boolean,
    default: false,
    meaning:
      "Whether idpauth uses `X-Forwarded-Proto` and `X-Forwarded-Host` instead of the request's own scheme and Host header. Use it with frameworks " +
      "that have no such setting. Turn it on only behind a proxy that sets both headers itself.",
  },
  /** An absolute http(s) URL or a path; null: the landing page. */
  authFinalRedirectUrl: {
    env: "IDP_AUTH_FINAL_REDIRECT_URL",
    kind: kind.redirectTarget,
    default: null,
    defaultText: "unset: the landing page",
    meaning:
      "The page that opens after a login, if the login requests no page or requests a page on another origin. " +
      "The value of this setting may be on another origin.",
  },
  /** An absolute http(s) URL or a path; null: the landing page. */
  authLogoutRedirectUrl: {
    env: "IDP_AUTH_LOGOUT_REDIRECT_URL",
    kind: kind.redirectTarget,
    default: null,
    defaultText: "unset: the landing page",
    meaning:
      "The page after a logout by navigation (`response=redirect`), as by `signOut()` of idpauth/client. It may be on another origin.",
  },
  /** Seconds. */
  hookTimeout: {
    env: "IDP_HOOK_TIMEOUT",
    kind: kind.hookSeconds,
    unit: "seconds",
    default: 5,
    meaning:
      "The time limit for each run of `onSignIn`, of `onRefresh` and of the claims schema (option `claims`). After this time, the " +
      "response has status 503. A sign-in then creates no session, and an existing session stays.",
  },
  /** Bytes. */
  dataLimit: {
    env: "IDP_DATA_LIMIT",
    kind: kind.dataBytes,
    default: 4096,
    meaning:
      "The maximum size of the data that the application stores in a session, in bytes of JSON. " +
      "The result of the option `clientData` has the same limit. Every request reads the data, so keep it small.",
  },
  debug: {
    env: "IDP_DEBUG",
    kind: kind.boolean,
    default: false,
    meaning: "Turns on debug mode: the debug endpoint works, and some startup checks are less strict. DEBUG and NODE_ENV have no effect.",
  },
} as const satisfies Record<string, kind.SettingRow>;

function withoutPath(value: unknown): string | undefined {
  const url = typeof value === "string" ? parseUrl(value) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.pathname === "/") return undefined;
  return "Set BASE_URL (option baseUrl) to the origin only. If a reverse proxy strips a path prefix, such as `/portal`, set IDP_PATH_PREFIX (option pathPrefix) to it.";
}
