import type { Application } from "../application/application.js";
import { epochSeconds, type Clock } from "../clock.js";
import { ProviderRefusedError, ProviderUnavailableError } from "../errors.js";
import { identityOf, type EventHub } from "../events/event-hub.js";
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
import { REFRESH_DEADLINE, takeLease, type Lease, type LeaseOptions, type Need } from "./lease.js";
import type { OrphanedTokenRule } from "./orphaned-tokens.js";
import type { Slots } from "../work/slots.js";
import type { UnawaitedTasks } from "../work/unawaited-tasks.js";

/**
 * Milliseconds for which a rotated refresh token waits for a store that is away. It may be longer than the lease, because no process
 * can take over the lease while the store is away.
 */
const ROTATED_TOKEN_KEPT = 300_000;

export interface RefreshOptions {
  readonly registration: Registration;
  readonly application: Application;
  readonly clock: Clock;
  readonly events: EventHub;
  readonly orphanedTokens: OrphanedTokenRule;
  readonly tasks: UnawaitedTasks;
  readonly slots: Slots;
}

/**
 * Refreshes one session once: takes the lease, spends the refresh token, verifies the response, stores the tokens, and has the
 * application's code accept them.
 *
 * @param key the session's key
 * @returns the newest record; undefined if the session is gone
 */
export async function refreshOnce(
  options: RefreshOptions,
  session: UserSession,
  key: string,
  needOf: LeaseOptions["needOf"],
  renewApi?: RenewApi,
): Promise<SessionRecord | undefined> {
  const { registration, events } = options;
  const assertReady = (need: Need) => {
    if (need !== "review") registration.provider.assertReadyToRefresh(key);
  };
  let taken;
  try {
    // First: while the provider is known to be away, an expired session costs no store operation.
    const known = await session.read();
    const need = known && needOf(known);
    if (need !== undefined) assertReady(need);
    taken = await takeLease({ ...options, session, needOf, assertReady });
  } catch (error) {
    events.failed("refresh", error);
    throw error;
  }
  if (taken.lease === undefined) return taken.record;
  try {
    return await new Refresh(options, session, key, needOf, taken.lease, renewApi).run(taken.record);
  } finally {
    taken.release();
  }
}

/**
 * The refresh for one API, under the lease of a {@link Refresh}. A change: it was refused, and only a base refresh shows whether the refresh
 * token still works. If it does, the change is made.
 */
export type RenewApi = (refresh: ApiRefresh, record: SessionRecord) => Promise<Renewed | Change>;

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

/** The response to a refresh. Without one, another process took over the lease: this is its record. */
type Spent = { readonly spent: SpentRefresh } | ({ readonly spent: undefined } & Renewed);

/** One refresh under a lease. */
class Refresh {
  readonly #options: RefreshOptions;
  readonly #session: UserSession;
  readonly #key: string;
  readonly #needOf: LeaseOptions["needOf"];
  readonly #lease: Lease;
  readonly #renewApi: RenewApi | undefined;
  /** A refresh token that still works and must not be used: its response could not be accepted. */
  #dropped: string | undefined;
  /** The claims of the userinfo endpoint, if it was called. */
  #userinfo: IdInfo | undefined;

  constructor(
    options: RefreshOptions,
    session: UserSession,
    key: string,
    needOf: LeaseOptions["needOf"],
    lease: Lease,
    renewApi: RenewApi | undefined,
  ) {
    this.#options = options;
    this.#session = session;
    this.#key = key;
    this.#needOf = needOf;
    this.#lease = lease;
    this.#renewApi = renewApi;
  }

  /** @param record the record with the lease */
  async run(record: SessionRecord): Promise<SessionRecord | undefined> {
    const { clock, events, registration } = this.#options;
    const started = clock.monotonic();
    const deadline = new AbortController();
    const cancelDeadline = clock.timer(this.#lease.requestedAt + REFRESH_DEADLINE - started, () => {
      deadline.abort(new DOMException("The refresh took too long.", "TimeoutError"));
    });
    const about = () => ({ ...identityOf(record.id_info, registration.key), duration: clock.monotonic() - started });
    try {
      const need = this.#needOf(record);
      const renewed = need === "api" ? await this.#renewApi?.(this.#forApi(deadline.signal), record) : undefined;
      if (typeof renewed === "object") return renewed.record;
      const isReviewOnly = need === "review";
      const refreshed = isReviewOnly ? record : await this.#spendThenVerify(record, deadline.signal, need === "rejected", renewed);
      if (refreshed !== undefined && !isReviewOnly) events.emit("refresh", about());
      return this.#isHeldBy(refreshed) ? await this.#review(refreshed) : refreshed;
    } catch (error) {
      events.failed("refresh", error, about());
      if (error instanceof ProviderRefusedError) return await this.#refused(this.#dropped);
      // Best effort: another process takes over a lease that stays.
      await this.#lease.write(withoutLease).catch(() => undefined);
      throw error;
    } finally {
      cancelDeadline();
    }
  }

  #forApi(signal: AbortSignal): ApiRefresh {
    return {
      provider: this.#options.registration.provider,
      key: this.#key,
      signal,
      write: (change) => this.#lease.write(change),
      spend: (record, request) => this.#spend(record, request),
      keep: (spent, record, change) => this.#keep(spent, record, change),
    };
  }

  async #spend(record: SessionRecord, request: RefreshRequest): Promise<Spent> {
    const { registration, clock } = this.#options;
    // A process that was suspended may have lost its lease: the deadline's timer runs only after this.
    if (clock.monotonic() >= this.#lease.requestedAt + REFRESH_DEADLINE) throw new ProviderUnavailableError("timeout");
    const spent = await registration.provider.refresh(request);
    // The old token is spent now. The new one is stored before anything else can fail.
    const { refreshToken } = spent;
    if (refreshToken === undefined) return { spent };
    const kept = await this.#keep(spent, record, (fresh) => withRefreshToken(fresh, refreshToken), ROTATED_TOKEN_KEPT);
    return kept.changed ? { spent } : { spent: undefined, record: kept.record };
  }

  async #spendThenVerify(
    record: SessionRecord,
    signal: AbortSignal,
    isForced: boolean,
    also: Change = (fresh) => fresh,
  ): Promise<SessionRecord | undefined> {
    const { registration, application, clock, orphanedTokens } = this.#options;
    const { provider } = registration;
    const oldToken = record.credentials?.refresh_token ?? "";
    const request = { refreshToken: oldToken, session: this.#key, signal };
    const outcome = await this.#spend(record, request);
    if (outcome.spent === undefined) return outcome.record;
    const { spent } = outcome;
    const { refreshToken } = spent;
    const verified = await provider.verifyRefreshed(spent, record, request).catch((error: unknown) => {
      if (error instanceof ProviderRefusedError && orphanedTokens.revokes) this.#dropped = refreshToken ?? oldToken;
      throw error;
    });
    this.#userinfo = verified.userinfo;
    // A review that another process began is finished here, even if this process has nothing to review.
    const isReviewed = application.reviewsRefreshes || record.idp_state.review_due === true;
    const forcedAt = isForced ? epochSeconds(clock) : undefined;
    return (await this.#keep(spent, record, (fresh) => also(withTokens(fresh, spent, verified, isReviewed, forcedAt)))).record;
  }

  /** Whether the record still has this attempt's lease: the application's code has not accepted it yet. */
  #isHeldBy(record: SessionRecord | undefined): record is SessionRecord & { readonly credentials: Credentials } {
    return record?.credentials !== undefined && record.idp_state.lease?.nonce === this.#lease.nonce;
  }

  /**
   * Has the application's code accept the claims of a stored record. Code that outlives the lease runs again in another process; then
   * the write of this one does nothing.
   */
  async #review(record: SessionRecord & { readonly credentials: Credentials }): Promise<SessionRecord | undefined> {
    const { id_info: idInfo = {}, credentials, idp_state: state } = record;
    const user = { idInfo, credentials, userinfo: this.#userinfo };
    const decision = await this.#options.application.review(user, state.review_due === true);
    if (decision.kind !== "accepted") return this.#reject(decision.kind, credentials);
    return this.#settled((await this.#lease.write((fresh) => withReview(fresh, decision.review))).record);
  }

  /** Ends the session, because the application's code did not accept it. */
  async #reject(rejection: Rejection, { token, refresh_token: refreshToken }: Credentials): Promise<SessionRecord | undefined> {
    const { orphanedTokens, registration, tasks, events } = this.#options;
    const { revokes } = orphanedTokens;
    const { record, changed } = await this.#lease.write((fresh) => withRejection(fresh, rejection, revokes));
    if (changed && revokes)
      tasks.add(refreshToken === undefined ? registration.provider.revoke(token, "access_token") : this.#revoke(refreshToken));
    if (changed) events.refused("refresh", rejection);
    return this.#settled(record);
  }

  /** Stores received tokens. If the session is gone, they are orphaned. If another process took over the lease, they are dropped. */
  async #keep(spent: SpentRefresh, previous: SessionRecord, change: Change, duration?: number): Promise<Updated> {
    const written = await this.#lease.write(change, duration);
    if (written.changed) return written;
    if (written.record === undefined && this.#session.isUnreadable !== true) {
      const { orphanedTokens, tasks, registration } = this.#options;
      tasks.add(orphanedTokens.revoke(registration.provider, this.#key, spent, previous.id_info, this.#lease.takenAt));
    }
    // Also after a write whose outcome was unknown: then the record holds our tokens already.
    return { changed: false, record: this.#settled(written.record) };
  }

  async #refused(dropped: string | undefined): Promise<SessionRecord | undefined> {
    const { record } = await this.#lease.write((fresh) => withoutRefreshToken(fresh, dropped));
    if (dropped !== undefined) this.#options.tasks.add(this.#revoke(dropped));
    return this.#settled(record);
  }

  /** Revokes a dropped refresh token. Until that succeeds, the record keeps the token for the logout. */
  async #revoke(dropped: string): Promise<void> {
    if (await this.#options.registration.provider.revoke(dropped, "refresh_token"))
      await this.#session.update((fresh) => withoutDroppedToken(fresh, dropped));
  }

  /** Returns the record that another process left, unless that still needs a refresh. What an API still needs, its request asks for again. */
  #settled(record: SessionRecord | undefined): SessionRecord | undefined {
    const need = record && this.#needOf(record);
    if (need !== undefined && need !== "api") throw new ProviderUnavailableError("refresh_pending");
    return record;
  }
}
