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
    kind: kind.mountPath,
    default: "/idpauth/",
  },
  /** Empty, or with a slash at the start and none at the end. */
  pathPrefix: {
    kind: kind.pathPrefix,
    default: "",
  },
  trustProxy: {
    kind: kind.boolean,
    default: false,
  },
  /** An absolute http(s) URL or a path; null: the landing page. */
  authFinalRedirectUrl: {
    kind: kind.redirectTarget,
    default: null,
  },
  /** An absolute http(s) URL or a path; null: the landing page. */
  authLogoutRedirectUrl: {
    kind: kind.redirectTarget,
    default: null,
  },
  /** Seconds. */
  hookTimeout: {
    kind: kind.hookSeconds,
    default: 5,
  },
  /** Bytes. */
  dataLimit: {
    kind: kind.dataBytes,
    default: 4096,
  },
  debug: {
    kind: kind.boolean,
    default: false,
  },
} as const satisfies Record<string, kind.WrittenRow>;

function withoutPath(value: unknown): string | undefined {
  const url = typeof value === "string" ? parseUrl(value) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.pathname === "/") return undefined;
  return "Set BASE_URL (option baseUrl) to the origin only. If a reverse proxy strips a path prefix, such as `/portal`, set IDP_PATH_PREFIX (option pathPrefix) to it.";
}
