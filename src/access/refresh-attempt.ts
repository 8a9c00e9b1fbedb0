import { epochSeconds } from "../clock.js";
import { ProviderRefusedError, ProviderUnavailableError } from "../errors.js";
import { identityOf } from "../events/event-hub.js";
import type { Provider, RefreshRequest } from "../ports/provider.js";
import type { Registration } from "../ports/registration.js";
import type { Credentials, SpentRefresh } from "../record/credentials.js";
import type { Change, Updated, UserSession } from "../ports/user-session.js";
import { withReview } from "../record/application-data.js";
import type { IdInfo } from "../record/identity.js";
import type { Rejection, SessionRecord } from "../record/record.js";
import {
  withoutDroppedToken,
  withoutLease,
  withoutRefreshToken,
  withRefreshToken,
  withRejection,
  withTokens,
} from "../record/refresh-changes.js";
import type { Slots } from "../work/slots.js";
import { REFRESH_DEADLINE, takeLease, type Lease, type Need } from "./lease.js";
import type { Shared } from "./shared.js";

/**
 * Milliseconds for which a rotated refresh token waits for a store that is away. It may be longer
 * than the lease, because no process can take over the lease while the store is away.
 */
const ROTATED_TOKEN_KEPT = 300_000;

/** One refresh of a session. */
export interface RefreshOptions extends Shared {
  readonly registration: Registration;
  readonly session: UserSession;
  /** What a record still needs; undefined: nothing. */
  readonly needOf: (record: SessionRecord) => Need | undefined;
  /** Limits the refreshes at the provider. */
  readonly slots: Slots;
  /** The session's key. */
  readonly key: string;
  /** The API that `needOf` may answer with. */
  readonly api?: ApiRenewal | undefined;
}

/**
 * Refreshes one session once: takes the lease, spends the refresh token, verifies the response,
 * stores the tokens, and has the application's code accept them.
 *
 * @returns the newest record; undefined if the session is gone
 */
export async function refreshOnce(options: RefreshOptions): Promise<SessionRecord | undefined> {
  const { registration, events, session, key, needOf, api } = options;
  const assertReady = (need: Need) => {
    if (need !== "review")
      registration.provider.assertReadyToRefresh(key, need === "api" ? api?.name : undefined);
  };
  let taken;
  try {
    // First: while the provider is known to be away, an expired session costs no store operation.
    const known = await session.read();
    const need = known && needOf(known);
    if (need !== undefined) assertReady(need);
    taken = await takeLease({ ...options, assertReady });
  } catch (error) {
    events.failed("refresh", error, identityOf(undefined, registration.key));
    throw error;
  }
  if (taken.lease === undefined) return taken.record;
  try {
    return await refreshUnderLease(options, taken.lease, taken.record);
  } finally {
    taken.release();
  }
}

/**
 * The refresh for one API, under the lease of {@link refreshOnce}. A change: it was refused, and
 * only a base refresh shows whether the refresh token still works. If it does, the change is made.
 */
export type RenewApi = (refresh: ApiRefresh, record: SessionRecord) => Promise<Renewed | Change>;

/** A refresh for an API. */
export interface ApiRenewal {
  /** Its name in the option `apis`. */
  readonly name: string;
  readonly renew: RenewApi;
}

interface Renewed {
  readonly record: SessionRecord | undefined;
}

/** What a refresh for an API uses of the attempt. */
export interface ApiRefresh {
  readonly provider: Provider;
  readonly key: string;
  readonly signal: AbortSignal;
  /** Changes the record only while it carries the lease. */
  write(change: Change): Promise<Updated>;
  /** Spends the refresh token, and stores its successor before anything else can fail. */
  spend(record: SessionRecord, request: RefreshRequest): Promise<Spent>;
  /** Stores received tokens. If the session is gone, they are revoked. */
  keep(spent: SpentRefresh, record: SessionRecord, change: Change): Promise<Updated>;
}

/**
 * The response to a refresh. Without one, another process took over the lease: this is its record.
 */
type Spent = { readonly spent: SpentRefresh } | ({ readonly spent: undefined } & Renewed);

/** One refresh under a lease. @param record the record with the lease */
// eslint-disable-next-line max-lines-per-function -- A factory: small functions that share its variables.
async function refreshUnderLease(
  {
    registration,
    application,
    clock,
    events,
    orphanedTokens,
    tasks,
    session,
    key,
    needOf,
    api,
  }: RefreshOptions,
  lease: Lease,
  record: SessionRecord,
): Promise<SessionRecord | undefined> {
  const { provider } = registration;
  const started = clock.monotonic();
  const deadline = new AbortController();
  const { signal } = deadline;
  const cancelDeadline = clock.timer(lease.requestedAt + REFRESH_DEADLINE - started, () => {
    deadline.abort(new DOMException("The refresh took too long.", "TimeoutError"));
  });
  /** A refresh token that still works and must not be used: its response could not be accepted. */
  let dropped: string | undefined;
  /** The claims of the userinfo endpoint, if it was called. */
  let userinfo: IdInfo | undefined;

  async function spend(record: SessionRecord, request: RefreshRequest): Promise<Spent> {
    // A process that was suspended may have lost its lease: the deadline's timer runs only after
    // this.
    if (clock.monotonic() >= lease.requestedAt + REFRESH_DEADLINE)
      throw new ProviderUnavailableError("timeout");
    const spent = await provider.refresh(request);
    // The old token is spent now. The new one is stored before anything else can fail.
    const { refreshToken } = spent;
    if (refreshToken === undefined) return { spent };
    const kept = await keep(
      spent,
      record,
      (fresh) => withRefreshToken(fresh, refreshToken),
      ROTATED_TOKEN_KEPT,
    );
    return kept.changed ? { spent } : { spent: undefined, record: kept.record };
  }

  async function spendThenVerify(
    isForced: boolean,
    also: Change = (fresh) => fresh,
  ): Promise<SessionRecord | undefined> {
    const oldToken = record.credentials?.refresh_token ?? "";
    const request = { refreshToken: oldToken, session: key, signal };
    const outcome = await spend(record, request);
    if (outcome.spent === undefined) return outcome.record;
    const { spent } = outcome;
    const { refreshToken } = spent;
    const verified = await provider
      .verifyRefreshed(spent, record, request)
      .catch((error: unknown) => {
        if (error instanceof ProviderRefusedError && orphanedTokens.revokes)
          dropped = refreshToken ?? oldToken;
        throw error;
      });
    userinfo = verified.userinfo;
    // A review that another process began is finished here, even if this process has nothing to
    // review.
    const isReviewed = application.reviewsRefreshes || record.idp_state.review_due === true;
    const forcedAt = isForced ? epochSeconds(clock) : undefined;
    return (
      await keep(spent, record, (fresh) =>
        also(withTokens(fresh, { spent, verified, isReviewed, forcedAt })),
      )
    ).record;
  }

  /**
   * Whether the record still has this attempt's lease: the application's code has not accepted it
   * yet.
   */
  function isHeldBy(
    record: SessionRecord | undefined,
  ): record is SessionRecord & { readonly credentials: Credentials } {
    return record?.credentials !== undefined && record.idp_state.lease?.nonce === lease.nonce;
  }

  /**
   * Has the application's code accept the claims of a stored record. Code that outlives the lease
   * runs again in another process; then the write of this one does nothing.
   */
  async function review(
    record: SessionRecord & { readonly credentials: Credentials },
  ): Promise<SessionRecord | undefined> {
    const { id_info: idInfo = {}, credentials, idp_state: state } = record;
    const user = { idInfo, credentials, userinfo };
    const decision = await application.review(user, state.review_due === true);
    if (decision.kind !== "accepted") return reject(decision.kind, credentials);
    return settled((await lease.write((fresh) => withReview(fresh, decision.review))).record);
  }

  /** Ends the session, because the application's code did not accept it. */
  async function reject(
    rejection: Rejection,
    { token, refresh_token: refreshToken }: Credentials,
  ): Promise<SessionRecord | undefined> {
    const { revokes } = orphanedTokens;
    const { record, changed } = await lease.write((fresh) =>
      withRejection(fresh, rejection, revokes),
    );
    if (changed && revokes)
      tasks.add(
        refreshToken === undefined ? provider.revoke(token, "access_token") : revoke(refreshToken),
      );
    if (changed) events.refused("refresh", rejection, identityOf(undefined, registration.key));
    return settled(record);
  }

  /**
   * Stores received tokens. If the session is gone, they are orphaned. If another process took over
   * the lease, they are dropped.
   */
  async function keep(
    spent: SpentRefresh,
    previous: SessionRecord,
    change: Change,
    duration?: number,
  ): Promise<Updated> {
    const written = await lease.write(change, duration);
    if (written.changed) return written;
    if (written.record === undefined && session.isUnreadable !== true) {
      tasks.add(orphanedTokens.revoke(provider, key, spent, previous.id_info, lease.takenAt));
    }
    // Also after a write whose outcome was unknown: then the record holds our tokens already.
    return { changed: false, record: settled(written.record) };
  }

  async function refused(): Promise<SessionRecord | undefined> {
    const { record } = await lease.write((fresh) => withoutRefreshToken(fresh, dropped));
    if (dropped !== undefined) tasks.add(revoke(dropped));
    return settled(record);
  }

  /**
   * Revokes a dropped refresh token. Until that succeeds, the record keeps the token for the
   * logout.
   */
  async function revoke(refreshToken: string): Promise<void> {
    if (await provider.revoke(refreshToken, "refresh_token"))
      await session.update((fresh) => withoutDroppedToken(fresh, refreshToken));
  }

  /**
   * Returns the record that another process left, unless that still needs a refresh. What an API
   * still needs, its request asks for again.
   */
  function settled(record: SessionRecord | undefined): SessionRecord | undefined {
    const need = record && needOf(record);
    if (need !== undefined && need !== "api") throw new ProviderUnavailableError("refresh_pending");
    return record;
  }

  const about = () => ({
    ...identityOf(record.id_info, registration.key),
    duration: clock.monotonic() - started,
  });
  try {
    const need = needOf(record);
    const parts: ApiRefresh = {
      provider,
      key,
      signal,
      write: (change) => lease.write(change),
      spend,
      keep,
    };
    const renewed = need === "api" ? await api?.renew(parts, record) : undefined;
    if (typeof renewed === "object") return renewed.record;
    const isReviewOnly = need === "review";
    const refreshed = isReviewOnly ? record : await spendThenVerify(need === "rejected", renewed);
    if (refreshed !== undefined && !isReviewOnly) events.emit("refresh", about());
    return isHeldBy(refreshed) ? await review(refreshed) : refreshed;
  } catch (error) {
    events.failed("refresh", error, about());
    if (error instanceof ProviderRefusedError) return await refused();
    // Best effort: another process takes over a lease that stays.
    await lease.write(withoutLease).catch(() => undefined);
    throw error;
  } finally {
    cancelDeadline();
  }
}
