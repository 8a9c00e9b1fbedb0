import { createHash } from "node:crypto";

/**
 * The claims of a user, in ID token and userinfo. Without `sub`, the provider derives one from the
 * other claims.
 */
export type PersonClaims = Readonly<Record<string, unknown>>;

export const ADA: PersonClaims = Object.freeze({
  sub: "ada-1815",
  email: "ada@example.com",
  email_verified: true,
  name: "Ada Lovelace",
  picture: "https://pictures.example.com/ada.png",
});

/**
 * Checks the claims, because JavaScript tests may pass an email alone.
 * @throws TypeError if they are no object
 */
export function assertClaims(person: unknown): asserts person is PersonClaims {
  if (typeof person === "object" && person !== null && !Array.isArray(person)) return;
  throw new TypeError(
    'Pass the user as an object of claims, such as { email: "ada@example.com" }.',
  );
}

/** The header that names the user of one authorization request, as JSON claims. */
export const PERSON_HEADER = "x-test-person";

/**
 * Returns the header for a user, whose email address is verified unless the claims say otherwise.
 */
export function personHeaders(person: PersonClaims | undefined): Readonly<Record<string, string>> {
  if (person === undefined) return {};
  return { [PERSON_HEADER]: encodeURIComponent(JSON.stringify(withVerifiedEmail(person))) };
}

/**
 * Returns the claims with `email_verified: true` if they have an email address and do not say
 * whether it is verified.
 */
export function withVerifiedEmail(person: PersonClaims): PersonClaims {
  // First, because the order of claims decides the `sub` of a person without an address.
  return typeof person["email"] === "string" && !("email_verified" in person)
    ? { ...person, email_verified: true }
    : person;
}

/** Returns the claims with a `sub`, the same at every sign-in. A given `sub` stays unchanged. */
export function withSubject(person: PersonClaims): PersonClaims {
  if ("sub" in person) return person;
  const seed = typeof person["email"] === "string" ? person["email"] : JSON.stringify(person);
  return { sub: createHash("sha256").update(seed).digest("hex").slice(0, 21), ...person };
}

/** The claims that each scope requests (OpenID Connect Core section 5.4). */
const CLAIMS_OF_SCOPE: Readonly<Record<string, readonly string[]>> = {
  email: ["email", "email_verified"],
  address: ["address"],
  phone: ["phone_number", "phone_number_verified"],
  profile: [
    "name",
    "family_name",
    "given_name",
    "middle_name",
    "nickname",
    "preferred_username",
    "profile",
    "picture",
    "website",
    "gender",
    "birthdate",
    "zoneinfo",
    "locale",
    "updated_at",
  ],
};

/** Returns the claims without those of scopes that the user did not grant. */
export function withoutScopes(person: PersonClaims, leftOut: readonly string[]): PersonClaims {
  const hidden = new Set(leftOut.flatMap((scope) => CLAIMS_OF_SCOPE[scope] ?? []));
  return Object.fromEntries(Object.entries(person).filter(([name]) => !hidden.has(name)));
}

/**
 * Returns the user whom an authorization request names by `sub` or `email` (OpenID Connect Core
 * section 3.1.2.1, `login_hint`).
 */
export function hintedPerson(
  people: readonly PersonClaims[],
  hint: string | null,
): PersonClaims | undefined {
  return hint === null
    ? undefined
    : people.find((person) => person["sub"] === hint || person["email"] === hint);
}
