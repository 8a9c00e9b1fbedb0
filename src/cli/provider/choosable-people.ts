import { withSubject, type PersonClaims } from "../../testing/provider/people.js";

/** The people to choose from by default. */
export const PEOPLE: readonly PersonClaims[] = [
  { sub: "ada", email: "ada@example.com", email_verified: true, name: "Ada Lovelace" },
  { sub: "grace", email: "grace@example.com", email_verified: true, name: "Grace Hopper" },
  { sub: "alan", email: "alan@example.com", email_verified: false, name: "Alan Turing" },
];

/**
 * @param text `Ada Lovelace <ada@example.com>`, or the email address alone
 * @returns undefined when it is neither; the same address always gives the same `sub`
 */
export function readPerson(text: string): PersonClaims | undefined {
  const [, name = "", inBrackets] = /^([^<>]*)<([^<>]*)>\s*$/.exec(text) ?? [];
  const email = (inBrackets ?? text).trim();
  if (!/^[^\s@<>]+@[^\s@<>]+$/.test(email)) return undefined;
  return withSubject({ email, email_verified: true, name: name.trim() || email });
}

/** A claim as text; null when it is none. */
export function textClaim(person: PersonClaims, name: string): string | null {
  const value = person[name];
  return typeof value === "string" ? value : null;
}
