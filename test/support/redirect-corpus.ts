import { keptValues } from "./redirects/accepted.js";
import { backslash, controlAndWhiteSpace, unicodeHosts } from "./redirects/characters.js";
import {
  portGames,
  prefixAndSuffix,
  schemeGames,
  schemeRelative,
  userInfo,
} from "./redirects/elsewhere.js";
import { ownAddress, type OwnAddress } from "./redirects/own-address.js";
import {
  addressSpellings,
  empty,
  encodedForms,
  injection,
  malformed,
  veryLong,
} from "./redirects/spellings.js";

/** A return address that a login gets, and its expected outcome. */
export interface RedirectCase {
  /** The kind of attack. */
  readonly group: string;
  /** The value of `origin_url`, decoded, or of X-ORIGIN-URL. */
  readonly value: string;
  /** The final Location, byte for byte; null: the fallback, without an error. */
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
 * Returns values against open redirectors. Most must be replaced by the fallback, some must be
 * kept. No value occurs twice.
 *
 * @param origin the application's own, as browsers write it: `https://app.example`,
 *   `http://127.0.0.1:3000`
 * @throws TypeError if `origin` is not an origin
 */
export function redirectCorpus(origin: string): readonly RedirectCase[] {
  const own = ownAddress(origin);
  const kept = Object.entries(keptValues(own)).flatMap(([group, rows]) =>
    rows.map(([value, location]) => ({ group, value, location })),
  );
  const rejected = Object.entries(REJECTED).flatMap(([group, values]) =>
    values(own).map((value) => ({ group, value, location: null })),
  );
  // Two attacks can give the same value, such as an extra digit after a host or after its port.
  return [...new Map([...rejected, ...kept].map((each) => [each.value, each])).values()];
}

/**
 * Returns whether a header can carry the value unchanged (RFC 9110 section 5.5): visible characters
 * with spaces and tabs between them, in Latin-1, as Node decodes headers.
 */
export function fitsHeader(value: string): boolean {
  return /^(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/.test(value);
}
