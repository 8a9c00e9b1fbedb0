import type { IdInfo } from "../record/identity.js";
import type { EpochSeconds } from "../clock.js";

/** The claims about the user. `email` and `email_verified` always come from the same document. */
const IDENTITY = ["email", "email_verified", "name", "picture"] as const;

/** The claims about the authentication. Only a sign-in proves them, never a refresh. */
const AUTHENTICATION = ["auth_time", "acr", "amr", "acrs"] as const;

/**
 * The claims that userinfo never supplies: those of the token and the authentication, and
 * references to claims in other documents (OpenID Connect Core section 5.6.2), which are not
 * supported. `__proto__` is no claim.
 */
const NEVER_FROM_USERINFO: ReadonlySet<string> = new Set([
  "iss",
  "sub",
  "aud",
  "azp",
  "exp",
  "iat",
  "nonce",
  ...AUTHENTICATION,
  "sid",
  "tid",
  "session_expiry",
  "_claim_names",
  "_claim_sources",
  "__proto__",
]);

/** Identity claims, and the names of those from userinfo. */
export interface Identity {
  readonly idInfo: IdInfo;
  readonly userinfoClaims: readonly string[];
  /** The userinfo response's claims as parsed. */
  readonly userinfo?: IdInfo;
}

/** Adds all claims of userinfo that it may supply. The ID token's claims take precedence. Pure. */
export function withAllOfUserinfo(claims: IdInfo, userinfo: IdInfo): Identity {
  const names = Object.keys(userinfo).filter((name) => !NEVER_FROM_USERINFO.has(name));
  const { completed, borrowed } = withClaimsOf(claims, userinfo, names);
  return { idInfo: completed, userinfoClaims: borrowed };
}

/**
 * Returns the claims without those that came from userinfo before, so that userinfo can replace
 * them. Pure.
 *
 * @param names the claims that came from userinfo before
 */
export function withoutUserinfo(claims: IdInfo, names: readonly string[]): IdInfo {
  return without(claims, withEmailFlag(names));
}

/**
 * Returns the claims of a refreshed ID token. Identity claims and claims from userinfo that the
 * token lacks keep their previous values. Claims about the authentication keep the values of the
 * sign-in. Pure.
 *
 * @param names the claims that came from userinfo before
 */
export function refreshedClaims(
  claims: IdInfo,
  previous: IdInfo,
  names: readonly string[],
): Identity {
  const { completed, borrowed } = withClaimsOf(claims, previous, [
    ...new Set([...IDENTITY, ...names]),
  ]);
  // A refresh never makes an authentication newer or stronger.
  const proved = AUTHENTICATION.filter((name) => previous[name] !== undefined).map(
    (name) => [name, previous[name]] as const,
  );
  const idInfo = { ...without(completed, AUTHENTICATION), ...Object.fromEntries(proved) };
  return { idInfo, userinfoClaims: borrowed.filter((name) => names.includes(name)) };
}

/**
 * Returns the claims after a refresh that userinfo has confirmed. Claims that came from userinfo
 * get their new values or are removed; all others stay. Pure.
 *
 * @param names the claims that came from userinfo before
 */
export function confirmedByUserinfo(
  previous: IdInfo,
  names: readonly string[],
  userinfo: IdInfo,
  exp: EpochSeconds,
): Identity {
  const asked = withEmailFlag(names);
  const given = asked.filter(
    (name) => Object.hasOwn(userinfo, name) && userinfo[name] !== undefined,
  );
  const replaced = given.map((name) => [name, userinfo[name]] as const);
  return {
    idInfo: { ...without(previous, asked), ...Object.fromEntries(replaced), exp },
    userinfoClaims: names,
  };
}

function withEmailFlag(names: readonly string[]): readonly string[] {
  return names.includes("email") ? [...new Set([...names, "email_verified"])] : names;
}

/** Adds the named claims that `claims` lacks from `other`, and returns the names of those added. */
function withClaimsOf(
  claims: IdInfo,
  other: IdInfo,
  names: readonly string[],
): { readonly completed: IdInfo; readonly borrowed: readonly string[] } {
  const isSameEmail = claims.email === other.email && claims.email_verified === undefined;
  const isEmailBorrowed = other.email !== undefined && (claims.email === undefined || isSameEmail);
  const borrowed = names.filter((name) => {
    const isMissing =
      name === "email" || name === "email_verified" ? isEmailBorrowed : !has(claims, name);
    return isMissing && has(other, name);
  });
  const own = isEmailBorrowed ? without(claims, ["email_verified"]) : claims;
  return {
    completed: { ...own, ...Object.fromEntries(borrowed.map((name) => [name, other[name]])) },
    borrowed,
  };
}

/** Whether this claim was sent. A claim may have the name of a member of Object.prototype. */
function has(claims: IdInfo, name: string): boolean {
  return Object.hasOwn(claims, name) && claims[name] !== undefined;
}

function without(claims: IdInfo, names: readonly string[]): IdInfo {
  return Object.fromEntries(Object.entries(claims).filter(([name]) => !names.includes(name)));
}
