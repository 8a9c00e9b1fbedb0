import { randomBytes } from "node:crypto";
import { epochSeconds, wait, type Clock, type EpochSeconds } from "../clock.js";
import { StoreUnavailableError } from "../errors.js";
import type { Change, Updated, UserSession } from "../ports/user-session.js";
import type { SessionRecord } from "../record/record.js";
import { withLease, withoutLease } from "../record/refresh-changes.js";
import type { Release, Slots } from "../work/slots.js";
import type { UnawaitedTasks } from "../work/unawaited-tasks.js";
import {
  LAST_WRITE_MS,
  LEASE_MS,
  LOOK_AGAIN_MS,
  REFRESH_LIMIT_MS,
  WRITE_AGAIN_MS,
} from "./refresh-limits.js";

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

/**
 * The right to spend a session's refresh token. The record carries its nonce while this process
 * holds it.
 */
export interface Lease {
  /** When the lease was requested, on the clock's `monotonic()`. */
  readonly requestedAt: number;
  /** The same as wall clock time. */
  readonly takenAt: EpochSeconds;
  readonly nonce: string;
  /**
   * Whether the process may have lost the lease meanwhile, because it was suspended: the deadline's
   * timer runs only after this. While a machine sleeps, its monotonic clock stands still, and only
   * the wall clock shows it.
   */
  mayBeLost(): boolean;
  /** @param abandoned the nonce of a lease that may be taken over */
  request(needOf: LeaseOptions["needOf"], abandoned: string | undefined): Promise<Updated>;
  /**
   * Changes the record only while it carries this lease, so that an old holder never overwrites a
   * newer one's tokens. Tries again while the store is away, because the provider has already spent
   * the old token.
   *
   * @param duration milliseconds after the request of the lease in which attempts may begin
   */
  write(change: Change, duration?: number): Promise<Updated>;
}

function createLease(session: UserSession, clock: Clock): Lease {
  const nonce = randomBytes(16).toString("base64url");
  const requestedAt = clock.monotonic();
  const takenAt = epochSeconds(clock);
  const mayBeLost = () =>
    clock.monotonic() >= requestedAt + REFRESH_LIMIT_MS ||
    epochSeconds(clock) > takenAt + REFRESH_LIMIT_MS / 1000;

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

  async function write(change: Change, duration = LAST_WRITE_MS): Promise<Updated> {
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
        await wait(clock, WRITE_AGAIN_MS);
      }
    }
  }

  return { requestedAt, takenAt, nonce, mayBeLost, request, write };
}

/**
 * Waits until the record needs no refresh any more, or until this process holds the lease. Only a
 * holder occupies a slot.
 */
export async function takeLease(options: LeaseOptions): Promise<Taken> {
  const { session, needOf, slots, clock } = options;
  let watched: { nonce: string; since: number } | undefined;
  let interval = LOOK_AGAIN_MS.first;
  let record = await session.read();
  for (;;) {
    const need = record && needOf(record);
    if (record === undefined || need === undefined) return { record };
    const nonce = record.idp_state.lease?.nonce;
    const isAbandoned =
      nonce === watched?.nonce && clock.monotonic() - (watched?.since ?? Infinity) >= LEASE_MS;
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
    interval = Math.min(interval * 2, LOOK_AGAIN_MS.longest);
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
