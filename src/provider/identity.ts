import type { IdInfo } from "../record/identity.js";
import type { EpochSeconds } from "../clock.js";

/** The claims that show who the user is. `email` and `email_verified` are one pair, taken from one document. */
const IDENTITY = ["email", "email_verified", "name", "picture"] as const;

/** What the sign-in proved about the authentication. A refresh proves nothing about it. */
const AUTHENTICATION = ["auth_time", "acr", "amr"] as const;

/** Whether the ID token names the account alone, so that userinfo has to complete it (OpenID Connect Core section 5.4). Pure. */
export function lacksIdentity({ email, name, picture }: IdInfo): boolean {
  return email === undefined && name === undefined && picture === undefined;
}

/** Identity claims, and which of them came from userinfo. */
export interface Identity {
  readonly idInfo: IdInfo;
  readonly userinfoClaims: readonly string[];
}

/** The claims of an ID token, completed by userinfo. A claim of the ID token wins. Pure. */
export function completedByUserinfo(claims: IdInfo, userinfo: IdInfo): Identity {
  const { completed, borrowed } = withIdentityOf(claims, userinfo);
  return { idInfo: completed, userinfoClaims: borrowed };
}

/**
 * The claims of a refreshed ID token: identity claims that it lacks keep their old values, and those about the
 * authentication stay those of the sign-in. Pure.
 *
 * @param names the claims that userinfo gave before
 */
export function refreshedClaims(claims: IdInfo, previous: IdInfo, names: readonly string[]): Identity {
  const { completed, borrowed } = withIdentityOf(claims, previous);
  // No refresh makes an authentication look newer or stronger.
  const proved = AUTHENTICATION.filter((name) => previous[name] !== undefined).map((name) => [name, previous[name]] as const);
  const idInfo = { ...without(completed, AUTHENTICATION), ...Object.fromEntries(proved) };
  return { idInfo, userinfoClaims: borrowed.filter((name) => names.includes(name)) };
}

/**
 * The claims after a refresh that userinfo has confirmed: those that userinfo gave before have its new values, or are gone; all
 * others stay. Pure.
 *
 * @param names the claims that userinfo gave before
 */
export function confirmedByUserinfo(previous: IdInfo, names: readonly string[], userinfo: IdInfo, exp: EpochSeconds): Identity {
  const asked = names.includes("email") ? [...new Set([...names, "email_verified"])] : names;
  const given = asked.filter((name) => Object.hasOwn(userinfo, name) && userinfo[name] !== undefined);
  const replaced = given.map((name) => [name, userinfo[name]] as const);
  return { idInfo: { ...without(previous, asked), ...Object.fromEntries(replaced), exp }, userinfoClaims: names };
}

/** The claims, with the identity claims of `other` where they have none, and the names of those. */
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
