import { withSubject, type PersonClaims } from "../../testing/provider/people.js";

/**
 * The people to choose from by default.
 *
 * @param domain of their email addresses
 */
export function defaultPeople(domain: string): readonly PersonClaims[] {
  return [
    {
      sub: "ada",
      email: `ada@${domain}`,
      email_verified: true,
      name: "Ada Lovelace",
      groups: ["admin", "staff"],
    },
    {
      sub: "grace",
      email: `grace@${domain}`,
      email_verified: true,
      name: "Grace Hopper",
      groups: ["staff"],
    },
    {
      sub: "alan",
      email: `alan@${domain}`,
      email_verified: false,
      name: "Alan Turing",
      groups: [],
    },
  ];
}

/**
 * @param text `Ada Lovelace <ada@example.com> admin staff`: name, email address and groups; or the
 *   email address alone
 * @returns undefined when it is neither; the same address always gives the same `sub`
 */
export function readPerson(text: string): PersonClaims | undefined {
  const [, name = "", inBrackets, groups = ""] = /^([^<>]*)<([^<>]*)>([^<>]*)$/.exec(text) ?? [];
  const email = (inBrackets ?? text).trim();
  if (!/^[^\s@<>]+@[^\s@<>]+$/.test(email)) return undefined;
  const claims = { email, email_verified: true, name: name.trim() || email };
  return withSubject({ ...claims, groups: groups.split(/[\s,]+/).filter((group) => group !== "") });
}

/** A claim as text; null when it is none. */
export function textClaim(person: PersonClaims, name: string): string | null {
  const value = person[name];
  return typeof value === "string" ? value : null;
}
