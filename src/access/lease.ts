import { randomBytes } from "node:crypto";
import { epochSeconds, wait, type Clock } from "../clock.js";
import { StoreUnavailableError } from "../errors.js";
import type { Change, Updated, UserSession } from "../ports/user-session.js";
import type { SessionRecord } from "../record/record.js";
import { withLease, withoutLease } from "../record/refresh-changes.js";
import type { Release, Slots } from "../work/slots.js";
import type { UnawaitedTasks } from "../work/unawaited-tasks.js";

/** Milliseconds that one refresh may take at the provider. */
export const REFRESH_DEADLINE = 30_000;

/** Milliseconds that one store operation may take. */
const STORE_TIMEOUT = 2_000;

const MARGIN = 2_000;

/**
 * Milliseconds after which another process takes over an unchanged lease. Its holder has stopped by
 * then: the duration covers the provider's deadline, the store operations after it and a margin,
 * counted from before the lease was written.
 */
export const LEASE_DURATION = REFRESH_DEADLINE + 4 * STORE_TIMEOUT + MARGIN;

/** Milliseconds after which no write begins: a write is one read and one replace. */
const LAST_WRITE = LEASE_DURATION - 2 * STORE_TIMEOUT - MARGIN;

/** Milliseconds between two attempts to write while the store is away. */
const WRITE_AGAIN = 250;

/**
 * Milliseconds between two looks at another process's lease; doubled from the first to the longest,
 * with jitter.
 */
const LOOK_AGAIN = { first: 50, longest: 1_000 };

/**
 * What a refresh has to do: renew the tokens (also `rejected`: an API rejected the access token),
 * only have the application's code accept the claims, or get the access token for an API.
 */
export type Need = "tokens" | "rejected" | "review" | "api";

export interface LeaseOptions {
  readonly session: UserSession;
  /** What a record still needs; undefined: nothing. */
  readonly needOf: (record: SessionRecord) => Need | undefined;
  readonly slots: Slots;
  readonly clock: Clock;
  readonly tasks: UnawaitedTasks;
  /** Throws while the provider is known to be away, if the need includes the provider. */
  readonly assertReady: (need: Need) => void;
}

/**
 * The record with our lease, and the slot that it occupies. Without a lease: the record that needs
 * no refresh, or undefined.
 */
export type Taken =
  | { readonly lease: Lease; readonly record: SessionRecord; readonly release: Release }
  | { readonly lease?: undefined; readonly record: SessionRecord | undefined };

export type Lease = ReturnType<typeof createLease>;

/**
 * The right to spend a session's refresh token. The record carries its nonce while this process
 * holds it.
 */
export function createLease(session: UserSession, clock: Clock) {
  const nonce = randomBytes(16).toString("base64url");
  /** When the lease was requested, on the clock's `monotonic()`. */
  const requestedAt = clock.monotonic();
  /** The same as wall clock time. */
  const takenAt = epochSeconds(clock);

  /** @param abandoned the nonce of a lease that may be taken over */
  function request(
    needOf: LeaseOptions["needOf"],
    abandoned: string | undefined,
  ): Promise<Updated> {
    return session.update((fresh) => {
      const held = fresh.idp_state.lease?.nonce;
      if (needOf(fresh) === undefined || (held !== undefined && held !== abandoned)) return fresh;
      return withLease(fresh, { nonce, taken_at: takenAt });
    });
  }

  /**
   * Changes the record only while it carries this lease, so that an old holder never overwrites a
   * newer one's tokens. Tries again while the store is away, because the provider has already spent
   * the old token.
   *
   * @param duration milliseconds after the request of the lease in which attempts may begin
   */
  async function write(change: Change, duration = LAST_WRITE): Promise<Updated> {
    for (;;) {
      try {
        return await session.update((fresh) =>
          fresh.idp_state.lease?.nonce === nonce ? change(fresh) : fresh,
        );
      } catch (error) {
        if (
          !(error instanceof StoreUnavailableError) ||
          clock.monotonic() >= requestedAt + duration
        )
          throw error;
        await wait(clock, WRITE_AGAIN);
      }
    }
  }

  return { requestedAt, takenAt, nonce, request, write };
}

/**
 * Waits until the record needs no refresh any more, or until this process holds the lease. Only a
 * holder occupies a slot.
 */
export async function takeLease(options: LeaseOptions): Promise<Taken> {
  const { session, needOf, slots, clock } = options;
  let watched: { nonce: string; since: number } | undefined;
  let interval = LOOK_AGAIN.first;
  let record = await session.read();
  for (;;) {
    const need = record && needOf(record);
    if (record === undefined || need === undefined) return { record };
    const nonce = record.idp_state.lease?.nonce;
    const isAbandoned =
      nonce === watched?.nonce &&
      clock.monotonic() - (watched?.since ?? Infinity) >= LEASE_DURATION;
    if (nonce === undefined || isAbandoned) {
      const release = await slots.take();
      const { lease, updated } = await request(options, need, nonce).catch((error: unknown) => {
        release();
        throw error;
      });
      if (updated.changed) return { lease, record: updated.record, release };
      release();
      record = updated.record;
      continue;
    }
    // Another process holds the lease. Only our own clock counts: a lease that stays unchanged for
    // its whole duration is abandoned.
    if (nonce !== watched?.nonce) watched = { nonce, since: clock.monotonic() };
    await wait(clock, interval * (0.5 + Math.random()));
    interval = Math.min(interval * 2, LOOK_AGAIN.longest);
    record = await session.reload();
  }
}

async function request(
  { session, needOf, clock, tasks, assertReady }: LeaseOptions,
  need: Need,
  abandoned: string | undefined,
) {
  // Checked again: while this refresh waited for its slot, others may have found the provider away.
  assertReady(need);
  const lease = createLease(session, clock);
  try {
    return { lease, updated: await lease.request(needOf, abandoned) };
  } catch (error) {
    // The store may have written the lease before it failed. The lease is released in the
    // background, best effort.
    if (error instanceof StoreUnavailableError) tasks.add(lease.write(withoutLease));
    throw error;
  }
}
