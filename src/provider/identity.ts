import type { IdInfo } from "../record/identity.js";
import type { EpochSeconds } from "../clock.js";

/** The claims about the user. `email` and `email_verified` always come from the same document. */
const IDENTITY = ["email", "email_verified", "name", "picture"] as const;

/** The claims about the authentication. Only a sign-in proves them, never a refresh. */
const AUTHENTICATION = ["auth_time", "acr", "amr"] as const;

/** Whether the ID token lacks the claims about the user, so that userinfo must add them (OpenID Connect Core section 5.4). Pure. */
export function lacksIdentity({ email, name, picture }: IdInfo): boolean {
  return email === undefined && name === undefined && picture === undefined;
}

/** Identity claims, and the names of those from userinfo. */
export interface Identity {
  readonly idInfo: IdInfo;
  readonly userinfoClaims: readonly string[];
}

/** Adds userinfo's claims to those of an ID token. The ID token's claims take precedence. Pure. */
export function completedByUserinfo(claims: IdInfo, userinfo: IdInfo): Identity {
  const { completed, borrowed } = withIdentityOf(claims, userinfo);
  return { idInfo: completed, userinfoClaims: borrowed };
}

/**
 * Returns the claims of a refreshed ID token. Missing identity claims keep their previous values. Claims about the
 * authentication keep the values of the sign-in. Pure.
 *
 * @param names the claims that came from userinfo before
 */
export function refreshedClaims(claims: IdInfo, previous: IdInfo, names: readonly string[]): Identity {
  const { completed, borrowed } = withIdentityOf(claims, previous);
  // A refresh never makes an authentication newer or stronger.
  const proved = AUTHENTICATION.filter((name) => previous[name] !== undefined).map((name) => [name, previous[name]] as const);
  const idInfo = { ...without(completed, AUTHENTICATION), ...Object.fromEntries(proved) };
  return { idInfo, userinfoClaims: borrowed.filter((name) => names.includes(name)) };
}

/**
 * Returns the claims after a refresh that userinfo has confirmed. Claims that came from userinfo get their new values or are
 * removed; all others stay. Pure.
 *
 * @param names the claims that came from userinfo before
 */
export function confirmedByUserinfo(previous: IdInfo, names: readonly string[], userinfo: IdInfo, exp: EpochSeconds): Identity {
  const asked = names.includes("email") ? [...new Set([...names, "email_verified"])] : names;
  const given = asked.filter((name) => Object.hasOwn(userinfo, name) && userinfo[name] !== undefined);
  const replaced = given.map((name) => [name, userinfo[name]] as const);
  return { idInfo: { ...without(previous, asked), ...Object.fromEntries(replaced), exp }, userinfoClaims: names };
}

/** Adds the missing identity claims from `other`, and returns their names. */
function withIdentityOf(claims: IdInfo, other: IdInfo): { readonly completed: IdInfo; readonly borrowed: readonly string[] } {
  const isSameEmail = claims.email === other.email && claims.email_verified === undefined;
  const isEmailBorrowed = other.email !== undefined && (claims.email === undefined || isSameEmail);
  const borrowed = IDENTITY.filter((name) => {
    const isMissing = name === "email" || name === "email_verified" ? isEmailBorrowed : claims[name] === undefined;
    return isMissing && other[name] !== undefined;
  });
  const own = isEmailBorrowed ? without(claims, ["email_verified"]) : claims;
  return { completed: { ...own, ...Object.fromEntries(borrowed.map((name) => [name, other[name]])) }, borrowed };
}

function without(claims: IdInfo, names: readonly string[]): IdInfo {
  return Object.fromEntries(Object.entries(claims).filter(([name]) => !names.includes(name)));
}
