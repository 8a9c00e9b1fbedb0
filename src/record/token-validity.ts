/** For how long an access token has to stay valid when the application asks for it. */
import type { EpochSeconds } from "../clock.js";
import type { SessionRecord } from "./record.js";
import type { PolicySettings } from "./session-policy.js";

/** `minValidity` if the application doesn't say: seconds for which a token must stay valid. */
export const MIN_VALIDITY_SECONDS = 30;

/** What a call wants of a token. */
export interface WantedValidity {
  /** Seconds for which the token must stay valid; at most half of its life counts. */
  readonly minValidity: number;
  /** A token that the API has rejected. */
  readonly rejected?: string | undefined;
}

/** From the token response to the token's expiry. Undefined: not known. */
export interface TokenLife {
  readonly receivedAt: EpochSeconds | undefined;
  /** Undefined: the provider didn't say, and the token counts as valid. */
  readonly expiresAt: EpochSeconds | undefined;
}

/**
 * Whether a token stays valid for at least `minValidity` seconds. At most half of its lifetime
 * counts: otherwise nearly every call would renew a token that lives briefly.
 */
export function staysValid(life: TokenLife, minValidity: number, now: EpochSeconds): boolean {
  const { receivedAt, expiresAt = Infinity } = life;
  const lifetime = receivedAt === undefined ? Infinity : Math.max(0, expiresAt - receivedAt);
  return isUnexpired(life, now) && !(expiresAt - now < Math.min(minValidity, lifetime / 2));
}

/**
 * Whether a token has not expired. One that has no life when it comes has expired, even if it came
 * after `now`: a refresh takes time, and the call that waits for it was decided before.
 */
export function isUnexpired(
  { receivedAt, expiresAt = Infinity }: TokenLife,
  now: EpochSeconds,
): boolean {
  return expiresAt > now && expiresAt !== receivedAt;
}

/** The life of the session's own access token. A record of an older release has only `iat`. */
export function accessTokenLife({ idp_state: state, id_info: claims }: SessionRecord): TokenLife {
  const receivedAt = state.tokens_received_at ?? claims?.["iat"];
  return {
    receivedAt: typeof receivedAt === "number" ? receivedAt : undefined,
    expiresAt: state.access_token_expires_at,
  };
}

/** Whether the session's tokens can be renewed, as far as the record tells. */
export function isRefreshable(
  { credentials }: SessionRecord,
  { sessionAutoRefresh }: Pick<PolicySettings, "sessionAutoRefresh">,
): boolean {
  return sessionAutoRefresh && credentials?.refresh_token !== undefined;
}
