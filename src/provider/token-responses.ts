import { isObject, isTooDeep } from "../record/json.js";
import type { ProviderResponse } from "./transport.js";

/** What a response of the token endpoint means. `reason` is a stable word that is safe to log. */
export type Meaning =
  | { readonly kind: "ok"; readonly body: Readonly<Record<string, unknown>> }
  /** A definite no to this code or refresh token. */
  | { readonly kind: "refused"; readonly reason: string }
  /** The client is set up wrongly; nothing that this visitor's token could change. */
  | { readonly kind: "operator"; readonly reason: string }
  | { readonly kind: "outage"; readonly reason: string };

/** What the token endpoint was asked for. */
export type Grant = "exchange" | "refresh";

/** Errors of RFC 6749 section 5.2 that concern the client, not the refresh token. */
const OPERATOR_ERRORS = new Set(["invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope"]);

/** Statuses of the 4xx range that ask to come again later. */
export const TRY_LATER: ReadonlySet<number> = new Set([408, 429]);

/**
 * The meaning of a response to a code exchange or a refresh, in the order of the table in docs/explanation/decisions.md. Pure. Whether the
 * ID token of a 200 is valid is decided elsewhere.
 *
 * A code is any text that a stranger puts into a URL, so nothing but `invalid_client` in the response to one blames the operator.
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

/** The body as a JSON object; undefined for anything else, for one nested too deep, and for a web page whatever is in it. */
export function jsonObject({ headers, text }: ProviderResponse): Readonly<Record<string, unknown>> | undefined {
  if (/^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(headers.get("content-type") ?? "")) return undefined;
  try {
    const body: unknown = JSON.parse(text);
    return isObject(body) && !isTooDeep(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

/** The provider's `error` code when it has the form of one: anything else in its response is never repeated. */
export function errorCode(response: ProviderResponse): string | undefined {
  const error = jsonObject(response)?.["error"];
  return typeof error === "string" && /^[a-z_]{1,64}$/.test(error) ? error : undefined;
}

/** The parts of a token response (RFC 6749 section 5.1) that have a usable form; the rest is undefined. */
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
    // One of another type is not missing, it is wrong.
    idToken: isMissing(body["id_token"]) ? undefined : (text(body["id_token"]) ?? ""),
    scopes: text(body["scope"])
      ?.split(" ")
      .filter((scope) => scope !== ""),
    expiresIn: lifetime(body["expires_in"]),
  };
}

/** Seconds beyond which a lifetime is not believed: a century. */
const MAX_LIFETIME = 100 * 365 * 86_400;

/** Some providers send a string; one that makes no sense is as good as none. */
export function lifetime(value: unknown): number | undefined {
  const seconds = typeof value === "string" && /^\d{1,12}$/.test(value) ? Number(value) : value;
  return typeof seconds === "number" && seconds >= 0 && seconds <= MAX_LIFETIME ? seconds : undefined;
}

/** What a token may consist of (RFC 6749 appendix A.12); anything else could not be sent in a header. */
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
