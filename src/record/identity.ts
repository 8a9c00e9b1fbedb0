import type { JsonObject } from "./json.js";

/** The verified claims of the ID token (OpenID Connect Core section 2). A provider may send any JSON value for each. */
export interface IdInfo {
  readonly email?: unknown;
  readonly name?: unknown;
  readonly picture?: unknown;
  readonly email_verified?: unknown;
  readonly exp?: unknown;
  readonly iss?: unknown;
  readonly azp?: unknown;
  readonly aud?: unknown;
  readonly sub?: unknown;
  readonly [claim: string]: unknown;
}

/** The `user` object of the probe: exactly these three claims. Null: the provider sent no string. */
export interface UserPayload {
  readonly email: string | null;
  readonly name: string | null;
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

/** The user of a session, for the server. A claim that the provider did not send, or sent with another type, is null. */
export interface SessionUser extends UserPayload {
  /** The subject (`sub`): identifies the user at this provider, and never changes. */
  readonly id: string;
  readonly email_verified: boolean | null;
}

export function sessionUser(claims: Claims): SessionUser {
  const { email_verified: isVerified } = claims;
  return { id: claims.sub, ...userPayload(claims), email_verified: typeof isVerified === "boolean" ? isVerified : null };
}

function stringOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** Claims that identify a user (OpenID Connect Core section 5.7). */
export interface Claims extends IdInfo {
  readonly iss: string;
  readonly sub: string;
}

/** Whether the claims identify a user: `iss` and `sub` are strings and not empty. */
export function hasSubject(claims: IdInfo | undefined): claims is Claims {
  return isText(claims?.iss) && isText(claims.sub);
}

/** The claims with the output of the application's schema over them. The output never changes who the user is. */
export function claimsWithOutput(claims: Claims, output: JsonObject | undefined): Claims {
  return { ...claims, ...output, iss: claims.iss, sub: claims.sub };
}

/** Whether both sets of claims identify the same user. */
export function isSameUser(one: IdInfo | undefined, other: IdInfo | undefined): boolean {
  return hasSubject(one) && one.iss === other?.iss && one.sub === other.sub;
}

export function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
