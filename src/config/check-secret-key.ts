/** Whether SECRET_KEY and its fallbacks are good: set, not published, not short, not repetitive. */
import type { Finding } from "../errors.js";
import { isLoopback } from "../http/loopback.js";
import { parseUrl } from "../http/redirects.js";
import { check } from "./findings.js";
import { SETTING_NAMES } from "./setting-names.js";
import type { CommonValues, SettingName } from "./setting-table.js";

/** The values of SECRET_KEY in the documentation. They are public, so they are not secrets. */
const PLACEHOLDERS: readonly string[] = [
  "put-at-least-32-random-bytes-here-please",
  "at-least-32-random-bytes-go-here",
];

/**
 * The SECRET_KEY of `idpauth/testing`, which is just as public. Only tests have a provider on this
 * machine.
 */
const TESTING_KEY = "a fixed key, for tests and nowhere else";

/** Bytes of a key, and of the part that a key repeats. */
const MIN_KEY_BYTES = 32;

/** What the keys of stored sessions violate. @param issuers of all providers */
export function secretKeyFindings(
  { secretKey, secretKeyFallbacks }: CommonValues,
  unset: ReadonlySet<SettingName>,
  issuers: readonly string[],
): Finding[] {
  const findings: Finding[] = [];
  if (unset.has("secretKey")) findings.push(check("E001"));
  const isLocal = areOnThisMachine(issuers);
  if (secretKey !== undefined && isPublished(secretKey, isLocal)) findings.push(check("E013"));
  if (secretKeyFallbacks?.some((key) => isPublished(key, isLocal)) === true) {
    findings.push(
      check(
        "E013",
        `${SETTING_NAMES.label("secretKeyFallbacks")} contains a key from the documentation or from idpauth/testing.`,
        "Remove that key. Sessions that were encrypted with it end.",
      ),
    );
  }
  if (typeof secretKey === "string" && isGuessable(secretKey)) findings.push(check("W002"));
  return findings;
}

/**
 * Whether the settings are those of a test: the key of `idpauth/testing`, with providers on this
 * machine only.
 */
export function isTest(secretKey: string | undefined, issuers: readonly string[]): boolean {
  return secretKey?.trim() === TESTING_KEY && areOnThisMachine(issuers);
}

function areOnThisMachine(issuers: readonly string[]): boolean {
  return issuers.every((issuer) => isLoopback(parseUrl(issuer)?.hostname ?? ""));
}

/** @param isLocal whether the provider is on this machine */
function isPublished(secret: string, isLocal: boolean): boolean {
  const key = secret.trim();
  return PLACEHOLDERS.includes(key) || (!isLocal && key === TESTING_KEY);
}

/**
 * Whether a key is short, or repeats a short part: `000…`, `abcabc…`. The last repetition may be
 * cut off.
 */
function isGuessable(secret: string): boolean {
  const bytes = Buffer.from(secret);
  const longest = Math.min(MIN_KEY_BYTES - 1, Math.floor(bytes.length / 2));
  const repeats = (period: number) => bytes.subarray(period).equals(bytes.subarray(0, -period));
  return (
    bytes.length < MIN_KEY_BYTES ||
    Array.from({ length: longest }, (_, index) => index + 1).some(repeats)
  );
}
