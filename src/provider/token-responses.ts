import type { EpochSeconds } from "../clock.js";
import { isObject, isTooDeep } from "../record/json.js";
import type { ProviderResponse } from "./transport.js";

/** The meaning of the token endpoint's response. `reason` is a stable word that is safe to log. */
export type Meaning =
  | { readonly kind: "ok"; readonly body: Readonly<Record<string, unknown>> }
  /** The code or refresh token is refused definitely. */
  | { readonly kind: "refused"; readonly reason: string }
  /** The client's configuration is wrong, independent of this token. */
  | { readonly kind: "operator"; readonly reason: string }
  | { readonly kind: "outage"; readonly reason: string };

/** The kind of request to the token endpoint. */
export type Grant = "exchange" | "refresh";

/** The errors of RFC 6749 section 5.2 about the client, not about the refresh token. */
const OPERATOR_ERRORS = new Set(["invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope"]);

/** The 4xx statuses that ask for a later retry. */
export const TRY_LATER: ReadonlySet<number> = new Set([408, 429]);

/**
 * Returns the meaning of a response to a code exchange or a refresh. The ID token is verified later. Pure.
 * The order is that of the table in the decisions, "Accessor, probe, guard".
 *
 * An attacker can put any code into a URL. So in the response to a code, only `invalid_client` means a wrong configuration.
 */
export function meaningOf(response: ProviderResponse, grant: Grant): Meaning {
  const { status } = response;
  if (status === 200) {
    const body = jsonObject(response);
    return body === undefined ? { kind: "outage", reason: "not_json" } : { kind: "ok", body };
  }
  if (status >= 300 && status < 400) return { kind: "outage", reason: "redirect" };
  if (status < 400 || status >= 500) return { kind: "outage", reason: `http_${String(status)}` };
  const error = errorCode(response);
  // With any 4xx: Auth0 sends it with 403.
  if (error === "invalid_grant") return { kind: "refused", reason: error };
  if (TRY_LATER.has(status)) return { kind: "outage", reason: `http_${String(status)}` };
  const reason = error ?? `http_${String(status)}`;
  if (error === "invalid_client") return { kind: "operator", reason };
  if (grant === "exchange") return { kind: "refused", reason };
  return { kind: status !== 400 || OPERATOR_ERRORS.has(reason) ? "operator" : "refused", reason };
}

/** Parses the body as a JSON object; undefined for anything else, for deep nesting, and for every HTML page. */
export function jsonObject({ headers, text }: ProviderResponse): Readonly<Record<string, unknown>> | undefined {
  if (/^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(headers.get("content-type") ?? "")) return undefined;
  try {
    const body: unknown = JSON.parse(text);
    return isObject(body) && !isTooDeep(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the provider's `error` code if it has a valid form. Other text of the response is never shown. */
export function errorCode(response: ProviderResponse): string | undefined {
  const error = jsonObject(response)?.["error"];
  return typeof error === "string" && /^[a-z_]{1,64}$/.test(error) ? error : undefined;
}

/** The usable parts of a token response (RFC 6749 section 5.1); unusable parts are undefined. */
export interface TokenResponse {
  /** Only of a bearer token. */
  readonly accessToken: string | undefined;
  readonly refreshToken: string | undefined;
  readonly idToken: string | undefined;
  readonly scopes: readonly string[] | undefined;
  /** Seconds. */
  readonly expiresIn: number | undefined;
}

export function tokensOf(body: Readonly<Record<string, unknown>>): TokenResponse {
  const type = body["token_type"];
  const isBearer = typeof type === "string" && type.toLowerCase() === "bearer";
  return {
    accessToken: isBearer ? visible(body["access_token"]) : undefined,
    refreshToken: text(body["refresh_token"]),
    // An ID token of another type is wrong, not missing.
    idToken: isMissing(body["id_token"]) ? undefined : (text(body["id_token"]) ?? ""),
    scopes: text(body["scope"])
      ?.split(" ")
      .filter((scope) => scope !== ""),
    expiresIn: lifetime(body["expires_in"]),
  };
}

/** Seconds: a century. A longer lifetime is ignored. */
const MAX_LIFETIME = 100 * 365 * 86_400;

/** Reads a lifetime in seconds. Some providers send a string. Undefined for an invalid value. */
export function lifetime(value: unknown): number | undefined {
  const seconds = typeof value === "string" && /^\d{1,12}$/.test(value) ? Number(value) : value;
  return typeof seconds === "number" && seconds >= 0 && seconds <= MAX_LIFETIME ? seconds : undefined;
}

/** Returns a token of visible characters (RFC 6749 appendix A.12), since others cannot be sent in a header. */
function visible(value: unknown): string | undefined {
  const token = text(value);
  return token !== undefined && /^[\x20-\x7e]+$/.test(token) ? token : undefined;
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Returns when a token expires that was received at this time. @param expiresIn seconds */
export function expiryOf(receivedAt: EpochSeconds, expiresIn: number | undefined): EpochSeconds | undefined {
  return expiresIn === undefined ? undefined : Math.floor(receivedAt + expiresIn);
}
