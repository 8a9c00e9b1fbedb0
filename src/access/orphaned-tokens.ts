import { epochSeconds, type Clock, type EpochSeconds } from "../clock.js";
import type { DroppedTokens, Provider } from "../ports/provider.js";
import { hasSubject, type IdInfo } from "../record/identity.js";
import { withoutUndefined } from "../record/without-undefined.js";

/** Seconds by which the clocks of two processes may differ. */
const CLOCK_DIFFERENCE_SECONDS = 5;

/**
 * Milliseconds for which a replaced key is remembered: longer than a callback or a refresh takes.
 */
const REPLACED_KEY_MS = 60_000;

export interface OrphanedTokenOptions {
  /**
   * `IDP_TOKEN_REVOKE_ON_LOGOUT`. False: orphaned tokens are dropped, as a logout drops its own.
   */
  readonly revokes: boolean;
  readonly clock: Clock;
  /**
   * Whether the user has a session that began since then, in any process. Absent for a framework's
   * own sessions.
   */
  readonly hasSignedInSince?: (
    subject: { readonly iss: string; readonly sub: string; readonly provider?: string },
    since: EpochSeconds,
  ) => Promise<boolean>;
}

/** Tokens that arrived after their session was gone. */
export interface OrphanedTokens {
  readonly tokens: DroppedTokens;
  /** The session's. */
  readonly key: string;
  readonly idInfo: IdInfo | undefined;
  /** The key of the user's provider, if it has one. */
  readonly provider: string | undefined;
  /** When the refresh or callback began that received the tokens. */
  readonly since: EpochSeconds;
}

/**
 * Decides between the two causes of a missing session: a logout, or another sign-in that replaced
 * its key.
 */
export interface OrphanedTokenRule {
  /** `IDP_TOKEN_REVOKE_ON_LOGOUT`. */
  readonly revokes: boolean;
  /** Remembers that a sign-in has replaced this session key. */
  sessionReplaced(key: string): void;
  /** Whether a sign-in in this process has just replaced this session key. */
  isReplacedHere(key: string): boolean;
  /** Revokes the tokens of a sign-in that was refused or has failed. Never rejects. */
  discard(provider: Provider, tokens: DroppedTokens): Promise<void>;
  /**
   * Revokes orphaned tokens after a logout. If the user has signed in again, in any process, the
   * tokens are only dropped: some providers end the whole grant with one token, and the new session
   * uses it. If the store fails, they are dropped too. Never rejects.
   *
   * @param provider the one that issued the tokens
   */
  revoke(provider: Provider, orphaned: OrphanedTokens): Promise<void>;
}

/**
 * Revokes the tokens of one grant. With the refresh token, the provider also revokes the access
 * tokens that were made from it (RFC 7009 section 2.1), so the access token is revoked only if there
 * is no other. Never rejects.
 *
 * @returns whether a token was revoked
 */
export async function revokeTokens(
  provider: Provider,
  { accessToken, refreshToken }: DroppedTokens,
): Promise<boolean> {
  if (refreshToken !== undefined) return provider.revoke(refreshToken, "refresh_token");
  return accessToken !== undefined && provider.revoke(accessToken, "access_token");
}

export function createOrphanedTokenRule({
  revokes,
  clock,
  hasSignedInSince,
}: OrphanedTokenOptions): OrphanedTokenRule {
  /** From each replaced key to the time of its replacement, oldest first. */
  const replacedAt = new Map<string, number>();
  const isReplacedHere = (key: string) =>
    clock.monotonic() - (replacedAt.get(key) ?? -Infinity) < REPLACED_KEY_MS;

  async function hasSignedInAgain(
    { idInfo, provider }: Pick<OrphanedTokens, "idInfo" | "provider">,
    since: EpochSeconds,
  ): Promise<boolean> {
    if (hasSignedInSince === undefined || !hasSubject(idInfo)) return false;
    const { iss, sub } = idInfo;
    // A user who signed out here may be signed in on another device. So only sessions that began
    // since then count.
    return hasSignedInSince(
      { iss, sub, ...withoutUndefined({ provider }) },
      Math.min(since, epochSeconds(clock)) - CLOCK_DIFFERENCE_SECONDS,
    ).catch(() => true);
  }

  async function discard(provider: Provider, tokens: DroppedTokens): Promise<void> {
    if (revokes) await revokeTokens(provider, tokens);
  }

  return {
    revokes,
    sessionReplaced(key) {
      const now = clock.monotonic();
      replacedAt.set(key, now);
      for (const [oldest, at] of replacedAt) {
        if (now - at < REPLACED_KEY_MS) break;
        replacedAt.delete(oldest);
      }
    },
    isReplacedHere,
    discard,
    async revoke(provider, { key, tokens, since, ...user }) {
      if (revokes && !isReplacedHere(key) && !(await hasSignedInAgain(user, since)))
        await discard(provider, tokens);
    },
  };
}
