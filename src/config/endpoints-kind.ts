import { parseUrl } from "../http/redirects.js";
import { isObject } from "../record/json.js";
import type { SettingKind } from "./setting-kinds.js";

/** The endpoints of a provider that idpauth uses, by their names in the discovery document. */
export const ENDPOINT_NAMES = [
  "authorization_endpoint",
  "token_endpoint",
  "userinfo_endpoint",
  "jwks_uri",
  "revocation_endpoint",
  "end_session_endpoint",
  "pushed_authorization_request_endpoint",
] as const;
export type Endpoints = Readonly<Partial<Record<(typeof ENDPOINT_NAMES)[number], string>>>;

/** The endpoints that the browser opens, not the application. */
const OPENED_BY_BROWSERS: readonly string[] = ["authorization_endpoint", "end_session_endpoint"];

/**
 * Whether an endpoint may be unencrypted because the application reaches the provider at an
 * internal address: that of IDP_DISCOVERY_URL, about which W011 warns.
 */
export function isInternal(
  name: string,
  endpoint: URL,
  discoveryUrl: string | null | undefined,
): boolean {
  return (
    !OPENED_BY_BROWSERS.includes(name) && endpoint.origin === parseUrl(discoveryUrl ?? "")?.origin
  );
}

export const endpoints: SettingKind<Endpoints> = {
  type: "JSON object",
  allowed: `a JSON object of absolute http(s) URLs under the names ${ENDPOINT_NAMES.map((name) => `\`${name}\``).join(", ")}`,
  allowedInCode: `an object of absolute http(s) URLs under the names ${ENDPOINT_NAMES.map((name) => `\`${name}\``).join(", ")}`,
  fromText(text) {
    try {
      return endpointsIn(JSON.parse(text));
    } catch {
      return undefined;
    }
  },
  fromCode: endpointsIn,
};

function endpointsIn(value: unknown): Endpoints | undefined {
  if (!isObject(value)) return undefined;
  const isAllowed = ([name, url]: [string, unknown]) =>
    (ENDPOINT_NAMES as readonly string[]).includes(name) &&
    typeof url === "string" &&
    /^https?:$/.test(parseUrl(url)?.protocol ?? "");
  return Object.entries(value).every(isAllowed) ? { ...value } : undefined;
}
