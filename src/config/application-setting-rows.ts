import { parseUrl } from "../http/redirects.js";
import * as kind from "./setting-kinds.js";

/** The settings of the application: its address, the paths of the endpoints, and debug mode. */
export const APPLICATION_SETTINGS = {
  /** The origin that browsers use, such as `https://app.example`; null: taken from each request. */
  baseUrl: {
    env: "BASE_URL",
    kind: kind.origin,
    default: null,
    remedyFor: withoutPath,
  },
  /** Always starts and ends with a slash after reading. */
  mountPath: {
    env: "IDP_MOUNT_PATH",
    kind: kind.mountPath,
    default: "/idpauth/",
  },
  /** Empty, or with a slash at the start and none at the end. */
  pathPrefix: {
    env: "IDP_PATH_PREFIX",
    kind: kind.pathPrefix,
    default: "",
  },
  trustProxy: {
    env: "IDP_TRUST_PROXY",
    kind: kind.boolean,
    default: false,
  },
  /** An absolute http(s) URL or a path; null: the landing page. */
  authFinalRedirectUrl: {
    env: "IDP_AUTH_FINAL_REDIRECT_URL",
    kind: kind.redirectTarget,
    default: null,
  },
  /** An absolute http(s) URL or a path; null: the landing page. */
  authLogoutRedirectUrl: {
    env: "IDP_AUTH_LOGOUT_REDIRECT_URL",
    kind: kind.redirectTarget,
    default: null,
  },
  /** Seconds. */
  hookTimeout: {
    env: "IDP_HOOK_TIMEOUT",
    kind: kind.hookSeconds,
    unit: "seconds",
    default: 5,
  },
  /** Bytes. */
  dataLimit: {
    env: "IDP_DATA_LIMIT",
    kind: kind.dataBytes,
    default: 4096,
  },
  debug: {
    env: "IDP_DEBUG",
    kind: kind.boolean,
    default: false,
  },
} as const satisfies Record<string, kind.SettingRow>;

function withoutPath(value: unknown): string | undefined {
  const url = typeof value === "string" ? parseUrl(value) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.pathname === "/") return undefined;
  return "Set BASE_URL (option baseUrl) to the origin only. If a reverse proxy strips a path prefix, such as `/portal`, set IDP_PATH_PREFIX (option pathPrefix) to it.";
}
