/** What a refresh makes of the claims in the record, and when the next refresh is due. */
import type { EpochSeconds } from "../clock.js";
import type { Identity, SpentRefresh } from "./credentials.js";
import type { IdInfo } from "./identity.js";
import type { SessionRecord } from "./record.js";
import {
  AUTHENTICATION_CLAIMS,
  withClaimsOf,
  withEmailFlag,
  withoutClaims,
} from "./userinfo-claims.js";

/** The claims about the user. `email` and `email_verified` always come from the same document. */
const IDENTITY = ["email", "email_verified", "name", "picture"] as const;

/** The most seconds until the next refresh, after a refresh that userinfo has confirmed. */
const MAX_CONFIRMED_SECONDS = 3600;

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
  const proved = AUTHENTICATION_CLAIMS.filter((name) => previous[name] !== undefined).map(
    (name) => [name, previous[name]] as const,
  );
  const idInfo = {
    ...withoutClaims(completed, AUTHENTICATION_CLAIMS),
    ...Object.fromEntries(proved),
  };
  return { idInfo, userinfoClaims: borrowed.filter((name) => names.includes(name)) };
}

/** What userinfo has confirmed. */
interface Confirmation {
  readonly previous: IdInfo;
  /** The claims that came from userinfo before. */
  readonly names: readonly string[];
  readonly exp: EpochSeconds;
}

/**
 * Returns the claims after a refresh that userinfo has confirmed. Claims that came from userinfo
 * get their new values or are removed; all others stay. Pure.
 */
export function confirmedByUserinfo(
  userinfo: IdInfo,
  { previous, names, exp }: Confirmation,
): Identity {
  const asked = withEmailFlag(names);
  const given = asked.filter(
    (name) => Object.hasOwn(userinfo, name) && userinfo[name] !== undefined,
  );
  const replaced = given.map((name) => [name, userinfo[name]] as const);
  return {
    idInfo: { ...withoutClaims(previous, asked), ...Object.fromEntries(replaced), exp },
    userinfoClaims: names,
  };
}

/**
 * Returns `exp` after a refresh without an ID token: the access token's expiry. If the provider
 * names none, the session's last ID token decides how long it is.
 */
export function confirmedUntil(
  { id_info: before = {}, idp_state: state }: SessionRecord,
  { receivedAt, accessTokenExpiresAt }: SpentRefresh,
): EpochSeconds {
  const seconds =
    accessTokenExpiresAt === undefined
      ? lifetimeOf(before, state.tokens_received_at)
      : accessTokenExpiresAt - receivedAt;
  return receivedAt + Math.min(MAX_CONFIRMED_SECONDS, seconds);
}

/**
 * Returns the lifetime of the last ID token in seconds, from its receipt. Old records lack the
 * receipt; then from its `iat`.
 */
function lifetimeOf({ exp, iat }: IdInfo, receivedAt: EpochSeconds | undefined): number {
  const from = receivedAt ?? iat;
  const seconds = typeof exp === "number" && typeof from === "number" ? exp - from : NaN;
  return seconds > 0 ? Math.floor(seconds) : MAX_CONFIRMED_SECONDS;
}
