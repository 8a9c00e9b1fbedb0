import { epochSeconds } from "../clock.js";
import { ProviderRefusedError, ProviderUnavailableError } from "../errors.js";
import { identityOf, type EventIdentity } from "../events/event-hub.js";
import type { Observation } from "../ports/observer.js";
import type { DroppedTokens, Provider, RefreshRequest } from "../ports/provider.js";
import type { Registration } from "../ports/registration.js";
import type { Change, Updated, UserSession } from "../ports/user-session.js";
import { withReview } from "../record/application-data.js";
import type { Credentials, SpentRefresh } from "../record/credentials.js";
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
import type { AccessContext } from "./access-context.js";
import { takeLease, type Lease, type Need } from "./lease.js";
import { revokeTokens } from "./orphaned-tokens.js";
import { REFRESH_LIMIT_MS, ROTATED_TOKEN_MS } from "./refresh-limits.js";
import { withRejectedToken } from "./rejected-token.js";

/** One refresh of a session. */
export interface RefreshOptions extends AccessContext {
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
  readonly observation?: Observation | undefined;
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
  if (taken.lease === undefined) {
    options.observation?.note({ outcome: "shared" });
    return taken.record;
  }
  try {
    return await new RefreshAttempt(options, taken.lease, taken.record).run();
  } finally {
    taken.release();
  }
}

/** A refresh for an API. */
export interface ApiRenewal {
  /** The API's name. */
  readonly name: string;
  /** The refresh under the lease of {@link refreshOnce}. */
  renew(refresh: ApiRefresh, record: SessionRecord): Promise<Renewed>;
  /**
   * The record without the API's token, if the API has rejected it and the provider has refused the
   * refresh token. Pure.
   */
  withoutRejected(record: SessionRecord): SessionRecord;
}

/** How a refresh for an API ended. */
export type Renewed =
  /** Its outcome is stored; undefined: the session is gone. */
  | { readonly kind: "stored"; readonly record: SessionRecord | undefined }
  /**
   * It was refused, and only a base refresh shows whether the refresh token still works. If it does,
   * the change is made.
   */
  | { readonly kind: "refused"; readonly change: Change };

/** Whose refresh it is, and how long it has taken, in milliseconds. */
type RefreshFacts = EventIdentity & { readonly duration: number };

/** What a refresh for an API uses of the attempt. */
export interface ApiRefresh {
  readonly provider: Provider;
  readonly key: string;
  readonly signal: AbortSignal;
  readonly observation: Observation | undefined;
  /** What the events of this refresh say of it. */
  readonly about: RefreshFacts;
  /** Changes the record only while it carries the lease. */
  write(change: Change): Promise<Updated>;
  /** Spends the refresh token, and stores its successor before anything else can fail. */
  spend(request: RefreshRequest): Promise<Spent>;
  /** Stores received tokens. If the session is gone, they are revoked. */
  keep(spent: SpentRefresh, change: Change): Promise<Updated>;
}

/** What came of a refresh token. */
type Spent =
  | { readonly kind: "spent"; readonly spent: SpentRefresh }
  /** Another process took over the lease: this is its record. */
  | { readonly kind: "overtaken"; readonly record: SessionRecord | undefined };

/** The record still has the attempt's lease: the application's code has not accepted it yet. */
type HeldRecord = SessionRecord & { readonly credentials: Credentials };

/** One refresh under a lease. */
class RefreshAttempt implements ApiRefresh {
  readonly provider: Provider;
  readonly key: string;
  readonly signal: AbortSignal;
  readonly observation: Observation | undefined;
  readonly #options: RefreshOptions;
  readonly #lease: Lease;
  /** The record with the lease. */
  readonly #record: SessionRecord;
  readonly #started: number;
  readonly #cancelDeadline: () => void;
  /** A refresh token that still works and must not be used: its response could not be accepted. */
  #dropped: string | undefined;
  /** An API has rejected the session's access token. */
  #isForced = false;
  /** The claims of the userinfo endpoint, if it was called. */
  #userinfo: IdInfo | undefined;

  constructor(options: RefreshOptions, lease: Lease, record: SessionRecord) {
    const { registration, clock, key } = options;
    this.provider = registration.provider;
    this.key = key;
    this.observation = options.observation;
    this.#options = options;
    this.#lease = lease;
    this.#record = record;
    this.#started = clock.monotonic();
    const deadline = new AbortController();
    this.signal = deadline.signal;
    this.#cancelDeadline = clock.timer(lease.requestedAt + REFRESH_LIMIT_MS - this.#started, () => {
      deadline.abort(new DOMException("The refresh took too long.", "TimeoutError"));
    });
  }

  async run(): Promise<SessionRecord | undefined> {
    const { events, registration } = this.#options;
    this.observation?.note({ identity: identityOf(this.#record.id_info, registration.key) });
    try {
      const refreshed = await this.#refresh();
      return this.#isHeld(refreshed) ? await this.#review(refreshed) : refreshed;
    } catch (error) {
      events.failed("refresh", error, this.about);
      if (error instanceof ProviderRefusedError) return await this.#refused();
      // Best effort: another process takes over a lease that stays.
      await this.#lease.write(withoutLease).catch(() => undefined);
      throw error;
    } finally {
      this.#cancelDeadline();
    }
  }

  /** Does what the record needs at the provider. */
  async #refresh(): Promise<SessionRecord | undefined> {
    const { needOf, api, events } = this.#options;
    const need = needOf(this.#record);
    if (need === "review") return this.#record;
    const renewed = need === "api" ? await api?.renew(this, this.#record) : undefined;
    if (renewed?.kind === "stored") return renewed.record;
    this.#isForced = need === "rejected";
    const refreshed = await this.#spendThenVerify(renewed?.change);
    if (refreshed === undefined) return undefined;
    this.observation?.note({ outcome: "refreshed" });
    events.emit("refresh", this.about);
    return refreshed;
  }

  write(change: Change): Promise<Updated> {
    return this.#lease.write(change);
  }

  async spend(request: RefreshRequest): Promise<Spent> {
    if (this.#lease.mayBeLost()) throw new ProviderUnavailableError("timeout");
    const spent = await this.provider.refresh(request);
    // The old token is spent now. The new one is stored before anything else can fail.
    const { refreshToken, dpop } = spent;
    if (refreshToken === undefined) return { kind: "spent", spent };
    const kept = await this.keep(
      spent,
      (fresh) => withRefreshToken(fresh, { refreshToken, dpop }),
      ROTATED_TOKEN_MS,
    );
    return kept.changed ? { kind: "spent", spent } : { kind: "overtaken", record: kept.record };
  }

  async #spendThenVerify(also: Change = (fresh) => fresh): Promise<SessionRecord | undefined> {
    const { application, orphanedTokens, clock } = this.#options;
    const record = this.#record;
    const oldToken = record.credentials?.refresh_token ?? "";
    const { dpop } = record.idp_state;
    const request = { refreshToken: oldToken, session: this.key, signal: this.signal, dpop };
    const outcome = await this.spend(request);
    if (outcome.kind === "overtaken") return outcome.record;
    const { spent } = outcome;
    const verified = await this.provider
      .verifyRefreshed(spent, record, request)
      .catch((error: unknown) => {
        if (error instanceof ProviderRefusedError && orphanedTokens.revokes)
          this.#dropped = spent.refreshToken ?? oldToken;
        throw error;
      });
    this.#userinfo = verified.userinfo;
    // A review that another process began is finished here, even if this process has nothing to
    // review.
    const isReviewed = application.reviewsRefreshes || record.idp_state.review_due === true;
    const forcedAt = this.#isForced ? epochSeconds(clock) : undefined;
    const kept = await this.keep(spent, (fresh) =>
      also(withTokens(fresh, { spent, verified, isReviewed, forcedAt })),
    );
    return kept.record;
  }

  #isHeld(record: SessionRecord | undefined): record is HeldRecord {
    return record?.credentials !== undefined && record.idp_state.lease?.nonce === this.#lease.nonce;
  }

  /**
   * Has the application's code accept the claims of a stored record. Code that outlives the lease
   * runs again in another process; then the write of this one does nothing.
   */
  async #review({
    id_info: idInfo = {},
    credentials,
    idp_state: state,
  }: HeldRecord): Promise<SessionRecord | undefined> {
    const { key: provider } = this.#options.registration;
    const user = { idInfo, credentials, userinfo: this.#userinfo, provider };
    const decision = await this.#options.application.review(user, state.review_due === true);
    if (decision.kind !== "accepted") return this.#reject(decision.kind, credentials);
    const { record } = await this.write((fresh) => withReview(fresh, decision.review));
    return this.#settled(record);
  }

  /** Ends the session, because the application's code did not accept it. */
  async #reject(
    rejection: Rejection,
    { token: accessToken, refresh_token: refreshToken }: Credentials,
  ): Promise<SessionRecord | undefined> {
    const { orphanedTokens, tasks, events, registration } = this.#options;
    const { revokes } = orphanedTokens;
    const { record, changed } = await this.write((fresh) =>
      withRejection(fresh, rejection, revokes),
    );
    if (changed && revokes) tasks.add(this.#revoke({ accessToken, refreshToken }));
    if (changed) events.refused("refresh", rejection, identityOf(undefined, registration.key));
    return this.#settled(record);
  }

  /**
   * Stores received tokens. If the session is gone, they are orphaned. If another process took over
   * the lease, they are dropped.
   */
  async keep(spent: SpentRefresh, change: Change, duration?: number): Promise<Updated> {
    const { session, tasks, orphanedTokens, registration } = this.#options;
    const written = await this.#lease.write(change, duration);
    if (written.changed) return written;
    if (written.record === undefined && session.isUnreadable !== true) {
      const { id_info: idInfo } = this.#record;
      const { key, provider } = this;
      const user = { idInfo, provider: registration.key };
      const orphaned = { ...user, tokens: spent, key, since: this.#lease.takenAt };
      tasks.add(orphanedTokens.revoke(provider, orphaned));
    }
    // Also after a write whose outcome was unknown: then the record holds our tokens already.
    return { changed: false, record: this.#settled(written.record) };
  }

  async #refused(): Promise<SessionRecord | undefined> {
    this.observation?.note({ outcome: "refused" });
    const dropped = this.#dropped;
    const { record } = await this.write((fresh) =>
      this.#withoutRejected(withoutRefreshToken(fresh, dropped)),
    );
    if (dropped !== undefined)
      this.#options.tasks.add(this.#revoke({ accessToken: undefined, refreshToken: dropped }));
    return this.#settled(record);
  }

  /** A token that an API has rejected stays rejected, since no refresh will bring another one. */
  #withoutRejected(record: SessionRecord): SessionRecord {
    const { api } = this.#options;
    const rejected = this.#isForced ? this.#record.credentials?.token : undefined;
    const remembering = withRejectedToken(record, rejected, { sessionAutoRefresh: true });
    return api === undefined ? remembering : api.withoutRejected(remembering);
  }

  /**
   * Revokes dropped tokens. Until that succeeds, the record keeps the refresh token for the logout.
   */
  async #revoke(dropped: DroppedTokens): Promise<void> {
    const { refreshToken } = dropped;
    if ((await revokeTokens(this.provider, dropped)) && refreshToken !== undefined)
      await this.#options.session.update((fresh) => withoutDroppedToken(fresh, refreshToken));
  }

  /**
   * Returns the record that another process left, unless that still needs a refresh. What an API
   * still needs, its request asks for again.
   */
  #settled(record: SessionRecord | undefined): SessionRecord | undefined {
    const need = record && this.#options.needOf(record);
    if (need !== undefined && need !== "api") throw new ProviderUnavailableError("refresh_pending");
    return record;
  }

  get about(): RefreshFacts {
    const { registration, clock } = this.#options;
    return {
      ...identityOf(this.#record.id_info, registration.key),
      duration: clock.monotonic() - this.#started,
    };
  }
}
