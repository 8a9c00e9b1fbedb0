/** What the claims about the user come from: the ID token first, and userinfo for what it lacks. */
import type { Identity } from "./credentials.js";
import type { IdInfo } from "./identity.js";

/** The claims about the authentication. Only a sign-in proves them, never a refresh. */
export const AUTHENTICATION_CLAIMS = ["auth_time", "acr", "amr", "acrs"] as const;

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
  ...AUTHENTICATION_CLAIMS,
  "sid",
  "tid",
  "session_expiry",
  "_claim_names",
  "_claim_sources",
  "__proto__",
]);

/**
 * Whether the ID token lacks the claims about the user, so that userinfo must add them (OpenID
 * Connect Core section 5.4). Pure.
 */
export function lacksIdentity({ email, name, picture }: IdInfo): boolean {
  return email === undefined && name === undefined && picture === undefined;
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
  return withoutClaims(claims, withEmailFlag(names));
}

/** The flag comes and goes with its address. */
export function withEmailFlag(names: readonly string[]): readonly string[] {
  return names.includes("email") ? [...new Set([...names, "email_verified"])] : names;
}

/** Adds the named claims that `claims` lacks from `other`, and returns the names of those added. */
export function withClaimsOf(
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
  const own = isEmailBorrowed ? withoutClaims(claims, ["email_verified"]) : claims;
  return {
    completed: { ...own, ...Object.fromEntries(borrowed.map((name) => [name, other[name]])) },
    borrowed,
  };
}

/** Whether this claim was sent. A claim may have the name of a member of Object.prototype. */
function has(claims: IdInfo, name: string): boolean {
  return Object.hasOwn(claims, name) && claims[name] !== undefined;
}

export function withoutClaims(claims: IdInfo, names: readonly string[]): IdInfo {
  return Object.fromEntries(Object.entries(claims).filter(([name]) => !names.includes(name)));
}
