import { baseUrl, baseUrlRemedy } from "./base-url-kind.js";
import * as kind from "./setting-kinds.js";
import { setting, type RowsOfOptions } from "./setting-row.js";

/** The settings of the application: its address, the paths of the endpoints, and debug mode. */
export const APPLICATION_SETTINGS = {
  /** The origin that browsers use, or all of them; null: taken from each request. */
  baseUrl: setting(baseUrl, null, { env: "BASE_URL", remedyFor: baseUrlRemedy }),
  /** An origin as browsers write it; null: each login's own. */
  callbackOrigin: setting(kind.origin, null),
  /** Always starts and ends with a slash after reading. */
  mountPath: setting(kind.mountPath, "/idpauth/"),
  /** Empty, or with a slash at the start and none at the end. */
  pathPrefix: setting(kind.pathPrefix, ""),
  trustProxy: setting(kind.boolean, false),
  /** An absolute http(s) URL or a path; null: the landing page. */
  authFinalRedirectUrl: setting(kind.redirectTarget, null),
  /** An absolute http(s) URL or a path; null: the landing page. */
  authLogoutRedirectUrl: setting(kind.redirectTarget, null),
  /** Seconds. */
  hookTimeout: setting(kind.hookSeconds, 5),
  /** Bytes. */
  dataLimit: setting(kind.dataBytes, 4096),
  debug: setting(kind.boolean, false),
} as const satisfies Partial<RowsOfOptions>;
