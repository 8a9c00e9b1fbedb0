import type { JsonObject } from "./json.js";

/**
 * The verified claims of the ID token (OpenID Connect Core section 2). A provider may send any JSON
 * value for each.
 */
export interface IdInfo {
  /** The email address; see `email_verified`. */
  readonly email?: unknown;
  /** The full name, for display. */
  readonly name?: unknown;
  /** The URL of a picture of the user. */
  readonly picture?: unknown;
  /** True: the provider has verified `email`. */
  readonly email_verified?: unknown;
  /** Epoch seconds: the ID token expires. */
  readonly exp?: unknown;
  /** The issuer. */
  readonly iss?: unknown;
  /** The client that the token was issued to. */
  readonly azp?: unknown;
  /** The client ID, or a list that contains it. */
  readonly aud?: unknown;
  /** The user, unique at the issuer. */
  readonly sub?: unknown;
  readonly [claim: string]: unknown;
}

/**
 * The `user` object of the probe: exactly these three claims. Null: the provider sent no string.
 */
export interface UserPayload {
  /** It may be unverified. */
  readonly email: string | null;
  /** The full name, for display. */
  readonly name: string | null;
  /** A URL, unchecked: the provider or the user chose it. */
  readonly picture: string | null;
}

/** Returns the email, name and picture of the user. A claim that is not a string becomes null. */
export function userPayload(idInfo: IdInfo | undefined): UserPayload {
  return {
    email: stringOrNull(idInfo?.email),
    name: stringOrNull(idInfo?.name),
    picture: stringOrNull(idInfo?.picture),
  };
}

/**
 * The user of a session, for the server. A claim that the provider did not send, or sent with
 * another type, is null.
 */
export interface SessionUser extends UserPayload {
  /** The subject (`sub`): identifies the user at the provider, and never changes. */
  readonly id: string;
  /** Null: the provider sent neither a boolean nor one as text, as Apple and Cognito do. */
  readonly email_verified: boolean | null;
  /**
   * The key of the provider, without which `id` names nobody where there are several. Absent: the
   * application has one provider, without a key.
   */
  readonly provider?: string;
}

/** @param provider the key of the user's provider, if it has one */
export function sessionUser(claims: Claims, provider?: string): SessionUser {
  return {
    id: claims.sub,
    ...userPayload(claims),
    email_verified: truthOrNull(claims.email_verified),
    ...(provider !== undefined && { provider }),
  };
}

/** The value of `email_verified`, which some providers send as text. Null: it is neither. */
export function truthOrNull(value: unknown): boolean | null {
  if (typeof value === "boolean") return value;
  return value === "true" ? true : value === "false" ? false : null;
}

function stringOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** Claims that identify a user (OpenID Connect Core section 5.7). */
export interface Claims extends IdInfo {
  /** The issuer, never empty. */
  readonly iss: string;
  /** The user at that issuer, never empty. */
  readonly sub: string;
}

/** What identifies a user: two claims (OpenID Connect Core section 5.7), and the provider. */
export interface Subject {
  /** The issuer of the user's ID token. */
  readonly iss: string;
  /** Unique at that issuer, and never given to another user. */
  readonly sub: string;
  /**
   * The key of the user's provider. Required with a source of providers, whose customers can name
   * any issuer. Otherwise without it: the user at each provider with this issuer.
   */
  readonly provider?: string;
}

/** Whether the claims identify a user: `iss` and `sub` are strings and not empty. */
export function hasSubject(claims: IdInfo | undefined): claims is Claims {
  return isText(claims?.iss) && isText(claims.sub);
}

/**
 * The claims with the output of the application's schema over them. The output never changes who
 * the user is.
 */
export function claimsWithOutput(claims: Claims, output: JsonObject | undefined): Claims {
  return { ...claims, ...output, iss: claims.iss, sub: claims.sub };
}

/**
 * Whether both are the same user: issuer and subject, and the key of a provider from a source, since
 * a customer can name any issuer.
 */
export function isSameUser(one: IdentifiedUser, other: IdentifiedUser): boolean {
  return (
    hasSubject(one.idInfo) &&
    one.idInfo.iss === other.idInfo?.iss &&
    one.idInfo.sub === other.idInfo.sub &&
    one.sourceKey === other.sourceKey
  );
}

/** A user as a sign-in or a session knows one. */
export interface IdentifiedUser {
  readonly idInfo?: IdInfo | undefined;
  /** The key of the user's provider, if a source gave it. */
  readonly sourceKey?: string | undefined;
}

export function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
