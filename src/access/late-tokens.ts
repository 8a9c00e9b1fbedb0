import type { Provider } from "../ports/provider.js";
import type { Credentials } from "../record/credentials.js";
import type { IdInfo } from "../record/identity.js";
import { ReplacedKeys } from "./replaced-keys.js";
import { epochSeconds, type Clock, type EpochSeconds } from "../clock.js";

/** Tokens that came too late: the session that they were for is gone. */
export type LateTokens = Partial<Pick<Credentials, "token" | "refresh_token">>;

/** Seconds by which the clocks of two processes may differ here. */
const CLOCK_DIFFERENCE = 5;

export interface LateTokensOptions {
  readonly provider: Provider;
  /** `IDP_TOKEN_REVOKE_ON_LOGOUT`. False: late tokens are only dropped, as a logout leaves its own. */
  readonly revokes: boolean;
  readonly clock: Clock;
  /**
   * Whether the person has a session that began since then, in whatever process. Undefined: nobody can tell, as with the
   * host's own sessions.
   */
  readonly hasSignedInSince?: (subject: { readonly iss: string; readonly sub: string }, since: EpochSeconds) => Promise<boolean>;
}

/** What a session that is gone was replaced by, and what becomes of tokens for it. */
export interface LateTokenRule {
  /** `IDP_TOKEN_REVOKE_ON_LOGOUT`. */
  readonly revokes: boolean;
  /** A sign-in has given the session of this key another one. */
  sessionReplaced(key: string): void;
  /** Whether a sign-in of this process has just given the session another key. */
  isReplacedHere(key: string): boolean;
  /**
   * Gives tokens back to the provider when a logout has ended their session. When the visitor has signed in anew, here or in
   * another process, they are only dropped: some providers end the whole grant with one token, and the new session lives on
   * it. When the store cannot tell, they are dropped, too. Never rejects.
   *
   * @param since epoch seconds; when the work began that the tokens came of
   */
  giveBack(key: string, tokens: LateTokens, idInfo: IdInfo | undefined, since: EpochSeconds): Promise<void>;
}

export function createLateTokenRule({ provider, revokes, clock, hasSignedInSince }: LateTokensOptions): LateTokenRule {
  const replacedKeys = new ReplacedKeys();
  const isReplacedHere = (key: string): boolean => replacedKeys.has(key, clock.monotonic());

  async function isSignedInAnew(idInfo: IdInfo | undefined, since: EpochSeconds): Promise<boolean> {
    const { iss, sub } = idInfo ?? {};
    if (hasSignedInSince === undefined || typeof iss !== "string" || typeof sub !== "string") return false;
    // A person who signed out may have another device: only what began after this work counts.
    return hasSignedInSince({ iss, sub }, Math.min(since, epochSeconds(clock)) - CLOCK_DIFFERENCE).catch(() => true);
  }

  return {
    revokes,
    sessionReplaced(key) {
      replacedKeys.add(key, clock.monotonic());
    },
    isReplacedHere,
    async giveBack(key, { token, refresh_token: refreshToken }, idInfo, since) {
      if (!revokes || isReplacedHere(key) || (await isSignedInAnew(idInfo, since))) return;
      // The refresh token where there is one: with it the provider also drops the access tokens made from it (RFC 7009).
      if (refreshToken !== undefined) await provider.revoke(refreshToken, "refresh_token");
      else if (token !== undefined) await provider.revoke(token, "access_token");
    },
  };
}
