import { randomBytes } from "node:crypto";
import type { Background } from "./background-work.js";
import { Slots, type Release } from "./slots.js";
import { ProviderRefusedError, ProviderUnavailableError, StoreUnavailableError } from "../errors.js";
import type { EventHub } from "../events/event-hub.js";
import { identityOf } from "../events/events.js";
import type { Provider, RefreshRequest, SpentRefresh, VerifiedRefresh } from "../ports/provider.js";
import type { Change, UserSession } from "../ports/user-session.js";
import type { IdInfo } from "../record/identity.js";
import type { SessionRecord } from "../record/record.js";
import { epochSeconds, wait, type Clock, type EpochSeconds } from "../clock.js";
import type { LateTokenRule } from "./late-tokens.js";

/** Milliseconds that one refresh may take at the provider, in all. */
const REFRESH_DEADLINE = 30_000;

/** Milliseconds that one store operation may take. */
const STORE_TIMEOUT = 2_000;

/**
 * Milliseconds after which a lease that nobody renewed is free to take over. Longer than its holder can possibly live,
 * which counts everything from the moment in which it asked for the lease: the provider's deadline, the store operations
 * after it, and a margin.
 */
export const LEASE_DURATION = REFRESH_DEADLINE + 4 * STORE_TIMEOUT + 2_000;

/** When the last attempt to write begins: it is one read and one write, and then there is the margin. */
const LAST_WRITE = LEASE_DURATION - 2 * STORE_TIMEOUT - 2_000;

/**
 * Milliseconds for which a rotated refresh token waits for a store that is away. Longer than the lease on purpose: it is written
 * under our lease only, and while the store is away nobody can take that over.
 */
const ROTATED_TOKEN_KEPT = 300_000;

/** Milliseconds between two looks at somebody else's lease; doubled from the first to the second, with jitter. */
const WATCH_INTERVAL = { first: 50, longest: 1_000 };

export interface RefresherOptions {
  readonly provider: Provider;
  readonly clock: Clock;
  readonly events: EventHub;
  readonly lateTokens: LateTokenRule;
  /** Where best effort goes that no visitor waits for. */
  readonly background: Background;
  /** Milliseconds that a visitor waits for a refresh; it goes on without them. */
  readonly userPatience: number;
  /** How many refreshes may be at the provider at a time. */
  readonly concurrency: number;
}

export interface Refresher {
  /**
   * Refreshes the session once, however many ask. Gives the freshest record, whether it was refreshed here, elsewhere, or
   * refused; undefined: the session is gone.
   *
   * @param isNeeded whether a record still has to be refreshed; asked of the freshest one, so that a late request never
   * spends a token again
   * @throws ProviderUnavailableError an outage, too many refreshes at once, or the visitor's patience is over; the session stays
   * @throws StoreUnavailableError
   */
  refresh(session: UserSession, isNeeded: (record: SessionRecord) => boolean): Promise<SessionRecord | undefined>;
  /**
   * Resolves once no refresh is under way any more, those included whose visitors have left, and the background is quiet.
   * Keeps the process alive until then. Never rejects.
   */
  idle(): Promise<void>;
}

type Outcome = SessionRecord | undefined;

interface Written {
  readonly record: Outcome;
  /** Whether the change was made. False: the lease was no longer ours, and the record is as it was found. */
  readonly isOurs: boolean;
}

/** See `Refresh.#takeLease`. */
interface Leased {
  readonly record: Outcome;
  readonly release?: Release;
}

export function createRefresher(options: RefresherOptions): Refresher {
  // Keyed by session, never by client or user: nobody may be given somebody else's tokens.
  const flights = new Map<string, Promise<Outcome>>();
  const slots = new Slots({ limit: options.concurrency, reason: "refresh_queue_full", clock: options.clock });
  const { background } = options;
  return {
    async refresh(session, isNeeded) {
      const key = session.key;
      if (key === undefined) return undefined;
      const underWay = flights.get(key);
      if (underWay !== undefined) {
        await withPatience(underWay, options);
        // Somebody else's session object was brought up to date; this request's own copy has to follow.
        return session.update(same);
      }
      const flight = new Refresh(options, slots, session, isNeeded).run().finally(() => flights.delete(key));
      flights.set(key, flight);
      // Visitors may all have left when it fails; it has reported that itself.
      flight.catch(() => undefined);
      return withPatience(flight, options);
    },
    async idle() {
      // The clock's timers keep no process alive; whoever waits here wants it alive.
      const alive = setInterval(() => undefined, 60_000);
      while (flights.size + background.size > 0) await Promise.allSettled([...flights.values(), background.settled()]);
      clearInterval(alive);
    },
  };
}

function withPatience(flight: Promise<Outcome>, { clock, userPatience }: RefresherOptions): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const cancel = clock.timer(userPatience, () => {
      reject(new ProviderUnavailableError("refresh_pending"));
    });
    flight.then(resolve, reject).finally(cancel);
  });
}

/** One attempt to refresh one session: take the lease, spend the token, verify, write back. */
class Refresh {
  readonly #options: RefresherOptions;
  readonly #slots: Slots;
  readonly #session: UserSession;
  readonly #isNeeded: (record: SessionRecord) => boolean;
  readonly #nonce = randomBytes(16).toString("base64url");
  /** When the lease was asked for, on the clock's `monotonic()`. */
  #leasedAt = 0;
  /** The same on the wall clock. */
  #leaseTakenAt: EpochSeconds = 0;
  readonly #key: string;
  /** A refresh token that still works and must not be used: its response could not be accepted. */
  #dropped: string | undefined;

  constructor(options: RefresherOptions, slots: Slots, session: UserSession, isNeeded: (record: SessionRecord) => boolean) {
    this.#options = options;
    this.#slots = slots;
    this.#session = session;
    this.#key = session.key ?? "";
    this.#isNeeded = isNeeded;
  }

  async run(): Promise<Outcome> {
    const { record, release } = await this.#prepare().catch((error: unknown) => {
      this.#options.events.failed("refresh", error);
      throw error;
    });
    if (record === undefined || release === undefined) return record;
    try {
      return await this.#refreshUnderLease(record);
    } finally {
      release();
    }
  }

  async #prepare(): Promise<Leased> {
    // Before anything else: while the provider is known to be away, an expired session costs the store nothing.
    this.#options.provider.assertReadyToRefresh(this.#key);
    return this.#takeLease();
  }

  async #refreshUnderLease(record: SessionRecord): Promise<Outcome> {
    const { clock, events } = this.#options;
    const started = clock.monotonic();
    const deadline = new AbortController();
    const cancelDeadline = clock.timer(this.#leasedAt + REFRESH_DEADLINE - started, () => {
      deadline.abort(new DOMException("The refresh took too long.", "TimeoutError"));
    });
    const about = () => ({ ...identityOf(record.id_info), duration: clock.monotonic() - started });
    try {
      const refreshed = await this.#spendThenVerify(record, deadline.signal);
      if (refreshed !== undefined) events.emit("refresh", about());
      return refreshed;
    } catch (error) {
      events.failed("refresh", error, about());
      if (error instanceof ProviderRefusedError) {
        const dropped = this.#dropped;
        const written = await this.#write((fresh) => withoutRefreshToken(fresh, dropped));
        if (dropped !== undefined) this.#options.background.add(this.#giveBack(dropped));
        return this.#settled(written.record);
      }
      // Best effort: a lease that stays behind is taken over in time.
      await this.#write(withoutLease).catch(() => undefined);
      throw error;
    } finally {
      cancelDeadline();
    }
  }

  /**
   * The record with our lease in it, and the slot that it holds; or, without a slot, the record that somebody else has
   * refreshed meanwhile. Whoever only watches another's lease holds no slot.
   */
  async #takeLease(): Promise<Leased> {
    const { clock } = this.#options;
    let watched: { nonce: string; since: number } | undefined;
    let interval = WATCH_INTERVAL.first;
    let record = await this.#session.read();
    for (;;) {
      if (record === undefined || !this.#isNeeded(record)) return { record };
      const nonce = record.idp_state.lease?.nonce;
      const isAbandoned = nonce === watched?.nonce && clock.monotonic() - (watched?.since ?? Infinity) >= LEASE_DURATION;
      if (nonce === undefined || isAbandoned) {
        const release = await this.#slots.take();
        record = await this.#lease(nonce).catch((error: unknown) => {
          release();
          throw error;
        });
        if (record !== undefined && this.#holds(record)) return { record, release };
        release();
        continue;
      }
      // Somebody else holds it. Whether they still live is judged by our own clock alone: an unchanged lease for its
      // whole duration, so that no two machines' clocks are compared.
      if (nonce !== watched?.nonce) watched = { nonce, since: clock.monotonic() };
      await wait(clock, interval * (0.5 + Math.random()));
      interval = Math.min(interval * 2, WATCH_INTERVAL.longest);
      record = await this.#session.update(same);
    }
  }

  /** Puts our lease where there is none, or where the abandoned one still is. */
  async #lease(abandoned: string | undefined): Promise<Outcome> {
    // Again: while this refresh waited for its turn, others may have found the provider away.
    this.#options.provider.assertReadyToRefresh(this.#key);
    this.#leasedAt = this.#options.clock.monotonic();
    this.#leaseTakenAt = epochSeconds(this.#options.clock);
    try {
      return await this.#session.update((fresh) => this.#withLease(fresh, abandoned));
    } catch (error) {
      // The store may have written it before it failed: it is taken back, in the background and as far as that goes.
      if (error instanceof StoreUnavailableError) this.#options.background.add(this.#write(withoutLease));
      throw error;
    }
  }

  #withLease(fresh: SessionRecord, abandoned: string | undefined): SessionRecord {
    if (!this.#isNeeded(fresh)) return fresh;
    const held = fresh.idp_state.lease?.nonce;
    if (held !== undefined && held !== abandoned) return fresh;
    const lease = { nonce: this.#nonce, taken_at: this.#leaseTakenAt };
    return { ...fresh, idp_state: { ...fresh.idp_state, lease } };
  }

  #holds(record: SessionRecord): boolean {
    return record.idp_state.lease?.nonce === this.#nonce;
  }

  async #spendThenVerify(record: SessionRecord, signal: AbortSignal): Promise<Outcome> {
    const { provider } = this.#options;
    const previous: IdInfo = record.id_info ?? {};
    // A process that slept since it asked for the lease may have lost it: the timer of the deadline runs only after this.
    if (this.#options.clock.monotonic() >= this.#leasedAt + REFRESH_DEADLINE) throw new ProviderUnavailableError("timeout");
    const oldToken = record.credentials?.refresh_token ?? "";
    const request: RefreshRequest = { refreshToken: oldToken, session: this.#key, signal };
    const spent = await provider.refresh(request);
    // From here on the old token is worth nothing. The new one is stored before anything that could fail is tried.
    const { refreshToken } = spent;
    if (refreshToken !== undefined) {
      const kept = await this.#keep(spent, previous, (fresh) => withRefreshToken(fresh, refreshToken), ROTATED_TOKEN_KEPT);
      if (!kept.isOurs) return this.#settled(kept.record);
    }
    const verified = await provider.verifyRefreshed(spent, record, request).catch((error: unknown) => {
      if (error instanceof ProviderRefusedError && this.#options.lateTokens.revokes) this.#dropped = refreshToken ?? oldToken;
      throw error;
    });
    const kept = await this.#keep(spent, previous, (fresh) => withTokens(fresh, spent, verified));
    return kept.isOurs ? kept.record : this.#settled(kept.record);
  }

  /** Writes under our lease; when the session is gone, the tokens came too late. When another holder took over, they are dropped. */
  async #keep(spent: SpentRefresh, idInfo: IdInfo, change: Change, patience?: number): Promise<Written> {
    const { record, isOurs } = await this.#write(change, patience);
    // A store that failed after it had written gives our own tokens back, without the lease.
    if (record !== undefined && (isOurs || record.credentials?.token === spent.accessToken)) return { record, isOurs: true };
    if (record === undefined && this.#session.isUnreadable !== true) {
      const { accessToken: token, refreshToken: refresh_token } = spent;
      const tokens = { ...(token !== undefined && { token }), ...(refresh_token !== undefined && { refresh_token }) };
      // Whoever waits for this refresh is signed out, and need not wait for the provider once more.
      this.#options.background.add(this.#options.lateTokens.giveBack(this.#key, tokens, idInfo, this.#leaseTakenAt));
    }
    return { record, isOurs: false };
  }

  /** Revokes a dropped refresh token. Until that has worked, the record keeps it for the logout. */
  async #giveBack(dropped: string): Promise<void> {
    if (await this.#options.provider.revoke(dropped, "refresh_token"))
      await this.#session.update((fresh) => withoutDropped(fresh, dropped));
  }

  /** What somebody else has left. An ID token that they have not refreshed yet is no answer. */
  #settled(record: Outcome): Outcome {
    if (record !== undefined && this.#isNeeded(record)) throw new ProviderUnavailableError("refresh_pending");
    return record;
  }

  /** Changes the record only while it carries our lease: an old holder must not overwrite a newer one's tokens. */
  async #write(change: Change, patience = LAST_WRITE): Promise<Written> {
    const { clock } = this.#options;
    const giveUpAt = this.#leasedAt + patience;
    for (;;) {
      try {
        let isOurs = false;
        const record = await this.#session.update((fresh) => {
          isOurs = this.#holds(fresh);
          return isOurs ? change(fresh) : fresh;
        });
        return { record, isOurs };
      } catch (error) {
        // The provider has already spent the old token: a store that is away for a moment must not lose the new one.
        if (!(error instanceof StoreUnavailableError) || clock.monotonic() >= giveUpAt) throw error;
        await wait(clock, 250);
      }
    }
  }
}

const same: Change = (record) => record;

function withoutLease(record: SessionRecord): SessionRecord {
  const { lease: _lease, ...state } = record.idp_state;
  return { ...record, idp_state: state };
}

function withRefreshToken(record: SessionRecord, refreshToken: string): SessionRecord {
  if (record.credentials === undefined) return record;
  return { ...record, credentials: { ...record.credentials, refresh_token: refreshToken } };
}

/** @param dropped one that may still work at the provider */
function withoutRefreshToken(record: SessionRecord, dropped: string | undefined): SessionRecord {
  const freed = withoutLease(record);
  if (freed.credentials === undefined) return freed;
  const { refresh_token: _spent, ...credentials } = freed.credentials;
  const idpState = { ...freed.idp_state, refresh_rejected: true as const, ...(dropped !== undefined && { dropped_token: dropped }) };
  return { ...freed, credentials, idp_state: idpState };
}

function withoutDropped(record: SessionRecord, token: string): SessionRecord {
  const { dropped_token: dropped, ...state } = record.idp_state;
  return dropped === token ? { ...record, idp_state: state } : record;
}

/** `idp_login_at` is left alone: a refresh never lifts a cap. */
function withTokens(record: SessionRecord, spent: SpentRefresh, { idInfo, userinfoClaims }: VerifiedRefresh): SessionRecord {
  const freed = withoutLease(record);
  if (freed.credentials === undefined || spent.accessToken === undefined) return freed;
  const { access_token_expires_at: _old, userinfo_claims: _claims, refresh_rejected: _rejected, ended: _ended, ...state } = freed.idp_state;
  return {
    ...freed,
    credentials: {
      ...freed.credentials,
      token: spent.accessToken,
      // Once more: a host that saves its own session may have put an old copy back meanwhile, with the spent one.
      ...(spent.refreshToken !== undefined && { refresh_token: spent.refreshToken }),
      ...(spent.scopes !== undefined && { scopes: spent.scopes }),
    },
    id_info: idInfo,
    idp_state: {
      ...state,
      tokens_received_at: spent.receivedAt,
      ...(userinfoClaims.length > 0 && { userinfo_claims: userinfoClaims }),
      ...(spent.accessTokenExpiresAt !== undefined && { access_token_expires_at: spent.accessTokenExpiresAt }),
    },
  };
}
