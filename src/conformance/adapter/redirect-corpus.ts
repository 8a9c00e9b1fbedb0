import { keptValues } from "./redirects/accepted.js";
import { backslash, controlAndWhiteSpace, unicodeHosts } from "./redirects/characters.js";
import { portGames, prefixAndSuffix, schemeGames, schemeRelative, userInfo } from "./redirects/elsewhere.js";
import { ownAddress, type OwnAddress } from "./redirects/own-address.js";
import { addressSpellings, empty, encodedForms, injection, malformed, veryLong } from "./redirects/spellings.js";

/** One value that somebody may hand to a login as the page to come back to, and what must come of it. */
export interface RedirectCase {
  /** What kind of trick it is. */
  readonly group: string;
  /** As it stands in `origin_url`, decoded, or in X-ORIGIN-URL. */
  readonly value: string;
  /** The Location that the visitor is sent to in the end, byte for byte; null: the fallback, without a word. */
  readonly location: string | null;
}

const REJECTED: Readonly<Record<string, (own: OwnAddress) => readonly string[]>> = {
  "scheme-relative": schemeRelative,
  backslash,
  "control and white space": controlAndWhiteSpace,
  "user info": userInfo,
  "prefix and suffix": prefixAndSuffix,
  port: portGames,
  scheme: schemeGames,
  encoded: encodedForms,
  unicode: unicodeHosts,
  "address spelling": addressSpellings,
  "very long": veryLong,
  empty,
  malformed,
  "parameter injection": injection,
};

/**
 * Values against open redirectors: most must fall back, some must be kept, so that a rule can fail in both directions. No value
 * is there twice.
 *
 * @param origin the application's own, as browsers write it: `https://app.example`, `http://127.0.0.1:3000`
 * @throws TypeError when it is none
 */
export function redirectCorpus(origin: string): readonly RedirectCase[] {
  const own = ownAddress(origin);
  const kept = Object.entries(keptValues(own)).flatMap(([group, rows]) => rows.map(([value, location]) => ({ group, value, location })));
  const rejected = Object.entries(REJECTED).flatMap(([group, values]) => values(own).map((value) => ({ group, value, location: null })));
  // Two tricks can come out as one value, such as a digit too many behind a host or behind its port.
  return [...new Map([...rejected, ...kept].map((each) => [each.value, each])).values()];
}

/**
 * Whether a header can carry the value unchanged (RFC 9110 section 5.5): visible characters, with spaces and tabs between them
 * only, in Latin-1, which is what Node makes of a header's bytes.
 */
export function fitsHeader(value: string): boolean {
  return /^(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/.test(value);
}
