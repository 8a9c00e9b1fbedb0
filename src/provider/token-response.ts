/** What a token response contains. */
import type { EpochSeconds } from "../clock.js";

/**
 * The usable parts of a token response (RFC 6749 section 5.1); unusable parts, and empty strings,
 * are undefined.
 */
export interface TokenResponse {
  /** Only of a type that was asked for. */
  readonly accessToken: string | undefined;
  /** The access token is bound to the request's key. Undefined: it is a bearer token. */
  readonly tokenType: "DPoP" | undefined;
  /** An access token came that is of another type, which idpauth can't use. */
  readonly isOtherType: boolean;
  readonly refreshToken: string | undefined;
  readonly idToken: string | undefined;
  readonly scopes: readonly string[] | undefined;
  readonly resources: readonly string[] | undefined;
  /** Seconds. */
  readonly expiresIn: number | undefined;
}

/** The types of access tokens, in lower case (RFC 6750, RFC 9449). */
export type TokenType = "bearer" | "dpop";

/** @param types those that this request may bring */
export function tokensOf(
  body: Readonly<Record<string, unknown>>,
  types: readonly TokenType[] = ["bearer"],
): TokenResponse {
  const given = body["token_type"];
  const idToken = body["id_token"];
  const type = types.find((one) => typeof given === "string" && given.toLowerCase() === one);
  const token = text(body["access_token"]);
  const isAbsent = idToken === undefined || idToken === null || idToken === "";
  return {
    accessToken: type === undefined ? undefined : visible(token),
    tokenType: type === "dpop" ? "DPoP" : undefined,
    isOtherType: token !== undefined && type === undefined,
    refreshToken: text(body["refresh_token"]),
    // An ID token that is no string is wrong, not missing. Providers written in Go send an empty one.
    idToken: isAbsent ? undefined : (text(idToken) ?? ""),
    scopes: text(body["scope"])
      ?.split(" ")
      .filter((scope) => scope !== ""),
    resources: body["resource"] === undefined ? undefined : [body["resource"]].flat().map(String),
    expiresIn: lifetime(body["expires_in"]),
  };
}

/** A century. A longer lifetime is ignored. */
const MAX_LIFETIME_SECONDS = 100 * 365 * 86_400;

/** Reads a lifetime in seconds. Some providers send a string. Undefined for an invalid value. */
export function lifetime(value: unknown): number | undefined {
  const seconds = typeof value === "string" && /^\d{1,12}$/.test(value) ? Number(value) : value;
  return typeof seconds === "number" && seconds >= 0 && seconds <= MAX_LIFETIME_SECONDS
    ? seconds
    : undefined;
}

/**
 * Returns a token of visible characters (RFC 6749 appendix A.12), since others cannot be sent in a
 * header.
 */
function visible(value: unknown): string | undefined {
  const token = text(value);
  return token !== undefined && /^[\x20-\x7e]+$/.test(token) ? token : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Returns when a token expires that was received at this time. @param expiresIn seconds */
export function expiryOf(
  receivedAt: EpochSeconds,
  expiresIn: number | undefined,
): EpochSeconds | undefined {
  return expiresIn === undefined ? undefined : Math.floor(receivedAt + expiresIn);
}
