import type { Clock } from "../clock.js";
import { ProviderUnavailableError } from "../errors.js";
import {
  asksForRetry,
  createBackOff,
  isWithoutResponse,
  SIGNATURE_FAILED,
  type BackOff,
  type Failure,
} from "./back-off.js";
import { createSharedBackOff, type SharedBackOff } from "./shared-back-off.js";

const MAX_WAIT_SECONDS = 30;
/** Each attempt whose tokens can't be verified spends another rotated refresh token. */
const MAX_UNVERIFIED_WAIT_SECONDS = 300;

/** The maximum number of back-offs of sessions and their APIs. The oldest is removed first. */
const MAX_BACK_OFFS = 10_000;

/** After which a session that has not tried again counts as one that has not failed. */
const STREAK_MS = 600_000;

/** What a refresh is for: a session's own tokens, or the token of one API. */
export interface RefreshOf {
  /** The session's key. */
  readonly session: string;
  readonly target?: { readonly api: string } | undefined;
}

/** Returns the key of what fails alone: a session, or an API of a session. */
export function keyOf({ session, target }: RefreshOf): string {
  return target === undefined ? session : `${session} ${target.api}`;
}

/**
 * The back-off of refreshes: one for each session that fails, one for each API of it, and a shared
 * one for an outage, of the token endpoint and of userinfo after it. A session whose token always
 * fails never delays a session whose token works, and an API that gets no tokens delays only this
 * session's requests to this API.
 */
export interface RefreshBackOff {
  /**
   * @param api a refresh for this API also waits for its own back-off
   * @throws ProviderUnavailableError `backing_off`
   */
  assertReady(session: string, api?: string): void;
  /**
   * Waits until this refresh may be sent. Call `left` when it has ended.
   * @throws ProviderUnavailableError `backing_off` or `timeout`
   */
  enter(refresh: RefreshOf, signal: AbortSignal): Promise<void>;
  /** Reports that the token request, or userinfo after it, is over, however it ended. */
  left(refresh: RefreshOf, endpoint: RefreshEndpoint): void;
  /** Reports a failed refresh, or a failed userinfo request that confirms one. @returns seconds */
  failed(
    refresh: RefreshOf,
    startedAt: number,
    failure: Failure & { readonly endpoint: RefreshEndpoint },
  ): number;
  /**
   * Reports new tokens that cannot be verified, which never concerns another session.
   *
   * @returns the error with the session's own wait
   */
  verificationFailed(
    refresh: RefreshOf,
    startedAt: number,
    error: ProviderUnavailableError,
  ): ProviderUnavailableError;
  /** The error of a failure: if only this session waits, a new sign-in may succeed at once. */
  withLogin(error: ProviderUnavailableError): ProviderUnavailableError;
  /** Reports that the endpoint has responded to a refresh. */
  responded(endpoint: RefreshEndpoint): void;
  /** Reports that a code was exchanged: the token endpoint works, at least for sign-ins. */
  exchanged(): void;
  /** Reports that new tokens are verified. */
  succeeded(refresh: RefreshOf): void;
}

export type RefreshEndpoint = "token" | "userinfo";

/** The back-off of a session, or of an API of it. */
interface OwnBackOff {
  readonly backOff: BackOff;
  /** Both on the clock's `monotonic()`: when the first failed request began, and the last failure. */
  readonly failingSince: number;
  readonly failedAt: number;
}

export function createRefreshBackOff(clock: Clock, random: () => number): RefreshBackOff {
  const own = new Map<string, OwnBackOff>();
  const shared: Readonly<Record<RefreshEndpoint, SharedBackOff>> = {
    token: createSharedBackOff(clock, random),
    userinfo: createSharedBackOff(clock, random),
  };

  function ownOf(key: string): OwnBackOff | undefined {
    const found = own.get(key);
    return found === undefined || clock.monotonic() - found.failedAt >= STREAK_MS
      ? undefined
      : found;
  }

  function contenderOf(refresh: RefreshOf) {
    const { session } = refresh;
    const hasFailed = [session, keyOf(refresh)].some((key) => ownOf(key) !== undefined);
    return { session, hasFailed };
  }

  function assertReady(session: string, api?: string): void {
    const refresh = { session, ...(api !== undefined && { target: { api } }) };
    for (const each of sharedOf(refresh)) each.assertReady(contenderOf(refresh));
    ownOf(session)?.backOff.assertReady();
    ownOf(keyOf(refresh))?.backOff.assertReady();
  }

  async function enter(refresh: RefreshOf, signal: AbortSignal): Promise<void> {
    try {
      for (const each of sharedOf(refresh)) await each.enter(contenderOf(refresh), signal);
    } catch (error) {
      left(refresh, "token");
      throw error;
    }
  }

  /** Userinfo confirms only a session's own tokens. */
  function sharedOf({ target }: RefreshOf): readonly SharedBackOff[] {
    return target === undefined ? [shared.token, shared.userinfo] : [shared.token];
  }

  function left({ session }: RefreshOf, endpoint: RefreshEndpoint): void {
    shared[endpoint].leave(session);
  }

  function failed(
    refresh: RefreshOf,
    startedAt: number,
    failure: Failure & { readonly endpoint: RefreshEndpoint },
  ): number {
    const { status, reason, misconfigured = false, asksToTryLater = false } = failure;
    const { session, target } = refresh;
    const ofAll = shared[failure.endpoint];
    if (!misconfigured && isWithoutResponse(failure)) return ofAll.failedForAll(startedAt, failure);
    // Whether a response is about the API or about the client, the session's own refresh shows.
    if (target !== undefined) return ownFailed(refresh, startedAt, failure).seconds;
    if (reason === "invalid_client") return ofAll.failedForAll(startedAt, failure);
    // This session's token may have caused it, or the key service is busy.
    const isTokensFault =
      status !== undefined && status >= 400 && !asksForRetry(status) && !asksToTryLater;
    const { seconds, failingSince } = ownFailed(refresh, startedAt, failure);
    if (misconfigured || isTokensFault || reason === SIGNATURE_FAILED) return seconds;
    const forAll = ofAll.failedForOne({ session, failingSince }, startedAt, failure);
    return Math.max(seconds, forAll);
  }

  function verificationFailed(
    refresh: RefreshOf,
    startedAt: number,
    error: ProviderUnavailableError,
  ): ProviderUnavailableError {
    const { reason, cause, isMisconfiguration: misconfigured } = error;
    const isUnverified = reason === "unknown_key" || misconfigured;
    const longest = isUnverified ? MAX_UNVERIFIED_WAIT_SECONDS : MAX_WAIT_SECONDS;
    const { seconds } = ownFailed(refresh, startedAt, { misconfigured, longest });
    return withLogin(
      new ProviderUnavailableError(reason, { cause, retryAfter: seconds, misconfigured }),
    );
  }

  /** Reports a failure that concerns only this session, or only this API of it. */
  function ownFailed(refresh: RefreshOf, startedAt: number, failure: Partial<Failure>) {
    const key = keyOf(refresh);
    const { backOff = createBackOff(clock, random, true), failingSince = startedAt } =
      ownOf(key) ?? {};
    // Moved to the end of the map, as the newest.
    own.delete(key);
    own.set(key, { backOff, failingSince, failedAt: clock.monotonic() });
    const [oldest] = own.keys();
    if (own.size > MAX_BACK_OFFS && oldest !== undefined) own.delete(oldest);
    return { seconds: backOff.failed(startedAt, failure), failingSince };
  }

  function withLogin(error: ProviderUnavailableError): ProviderUnavailableError {
    if (Object.values(shared).some((each) => each.secondsLeft() > 0)) return error;
    const { reason, cause, retryAfter, isMisconfiguration: misconfigured } = error;
    const options = { cause, retryAfter, misconfigured, loginHelps: true };
    return new ProviderUnavailableError(reason, options);
  }

  return {
    assertReady,
    enter,
    left,
    failed,
    verificationFailed,
    withLogin,
    responded: (endpoint) => {
      shared[endpoint].succeeded();
    },
    exchanged: () => {
      shared.token.works();
    },
    succeeded: (refresh) => {
      own.delete(keyOf(refresh));
    },
  };
}
