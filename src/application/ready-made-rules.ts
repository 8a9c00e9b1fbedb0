/** Ready-made rules for `allow`, and for the application's own code. */
import { truthOrNull } from "../record/identity.js";

/** What a rule looks at. A session has it, and so has the input of `onSignIn`. */
export interface WithClaims {
  /** Verified claims by name. A value can be any JSON. */
  readonly claims: Readonly<Record<string, unknown>>;
}

/**
 * A rule: the claim equals the value, or is a list that contains it.
 *
 * @param name the claim, for example `groups`
 *
 * @example
 * app.get("/admin", auth.idpRequiredWith({ allow: hasClaim("groups", "admin") }), handler);
 */
export function hasClaim(
  name: string,
  value: string | number | boolean,
): (subject: WithClaims) => boolean {
  // A value that is undefined, such as a missing setting, would equal a claim that the user does
  // not have.
  if (!["string", "number", "boolean"].includes(typeof value)) {
    throw new TypeError("`hasClaim` takes a string, a number or a boolean as the claim's value.");
  }
  return ({ claims }) => {
    const claim = ownClaim(claims, name);
    return Array.isArray(claim) ? claim.includes(value) : claim === value;
  };
}

/**
 * A rule: the user's email address is one local part, one `@` and this domain, and the provider has
 * verified the address (`email_verified` is true). A subdomain is another domain.
 *
 * @param domain without `@`, in any letter case
 *
 * @example
 * app.get("/reports", auth.idpRequiredWith({ allow: emailDomain("example.com") }), handler);
 */
export function emailDomain(domain: string): (subject: WithClaims) => boolean {
  if (domain === "" || domain.includes("@"))
    throw new TypeError("`emailDomain` takes a domain without `@`, such as `example.com`.");
  const wanted = domain.toLowerCase();
  return ({ claims }) => {
    const email = ownClaim(claims, "email");
    const isVerified = truthOrNull(ownClaim(claims, "email_verified"));
    if (isVerified !== true || typeof email !== "string") return false;
    // Mail systems disagree about which `@` of several counts.
    return /^[^\s@]+@([^\s@]+)$/.exec(email)?.[1]?.toLowerCase() === wanted;
  };
}

function ownClaim(claims: WithClaims["claims"], name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}

/**
 * A rule: at least one of the rules returns true. They run in order until one does.
 *
 * @typeParam Subject what the rules look at; inferred from the place of use, such as `allow`
 *
 * @example
 * const allow = anyOf(hasClaim("groups", "admin"), emailDomain("example.com"));
 * app.get("/reports", auth.idpRequiredWith({ allow }), handler);
 */
export function anyOf<Subject = WithClaims>(
  ...rules: readonly ((subject: NoInfer<Subject>) => boolean | Promise<boolean>)[]
): (subject: Subject) => Promise<boolean> {
  return async (subject) => {
    for (const rule of rules) if (isTrue(await rule(subject))) return true;
    return false;
  };
}

/**
 * A rule: all rules return true. They run in order until one does not. Without rules it is false.
 *
 * @typeParam Subject as of `anyOf`
 *
 * @example
 * const allow = allOf(hasClaim("groups", "staff"), hasClaim("email_verified", true));
 * app.get("/reports", auth.idpRequiredWith({ allow }), handler);
 */
export function allOf<Subject = WithClaims>(
  ...rules: readonly ((subject: NoInfer<Subject>) => boolean | Promise<boolean>)[]
): (subject: Subject) => Promise<boolean> {
  return async (subject) => {
    for (const rule of rules) if (!isTrue(await rule(subject))) return false;
    return rules.length > 0;
  };
}

/** Whether a rule lets the user pass. In JavaScript a rule can return anything. */
function isTrue(value: unknown): boolean {
  return value === true;
}
