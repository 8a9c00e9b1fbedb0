/** Which sign-ins may use the client's key now, so that strangers' logins leave it to refreshes. */
import type { Clock } from "../clock.js";
import { ProviderUnavailableError } from "../errors.js";
import { createSlots, type Release } from "../work/slots.js";
import { SIGNATURE_FAILED } from "./back-off.js";

/** How long a sign-in waits until it may sign. Our decision. */
const SIGNATURE_WAIT_MS = 2_000;

/** Between two signatures of sign-ins, after the key has refused one. Our decision. */
const FIRST_GAP_MS = 1_000;
const LONGEST_GAP_MS = 30_000;

/** Without a refused signature for as long, the gap is halved. Our decision. */
const QUIET_MS = 30_000;

/**
 * The signatures of sign-ins, which strangers can start. They use at most half of the signatures at
 * a time. After a refused signature, which a key service that limits signatures per second causes,
 * they also take turns, one in a gap that grows until the key refuses none, so that refreshes have
 * the rest.
 */
export interface SignInSignatures {
  /** @throws ProviderUnavailableError `backing_off`: it is no sign-in's turn */
  assertReady(): void;
  /** @throws ProviderUnavailableError it is no sign-in's turn, or no slot is free */
  take(): Promise<Release>;
  /**
   * Reports a refused signature of a sign-in or of a refresh.
   * @param startedAt the clock's `monotonic()` when it began
   */
  refused(startedAt: number): void;
}

interface SignInSignatureParts {
  readonly clock: Clock;
  /** In [0, 1), for jitter. */
  readonly random: () => number;
  /** How many sign-ins may sign at a time. */
  readonly limit: number;
}

export function createSignInSignatures(parts: SignInSignatureParts): SignInSignatures {
  const { clock, random, limit } = parts;
  const slots = createSlots({
    limit,
    reason: SIGNATURE_FAILED,
    clock,
    patience: SIGNATURE_WAIT_MS,
  });
  let widest = 0;
  let refusedAt = -Infinity;
  let nextAt = -Infinity;

  /** Milliseconds between two sign-ins now; 0: they take no turns. */
  function gap(): number {
    const gapNow = widest / 2 ** Math.floor((clock.monotonic() - refusedAt) / QUIET_MS);
    return gapNow < FIRST_GAP_MS ? 0 : gapNow;
  }

  /** Seconds until the next turn; 0: now. */
  function secondsLeft(): number {
    return gap() === 0 ? 0 : Math.max(0, Math.ceil((nextAt - clock.monotonic()) / 1000));
  }

  function waitFor(milliseconds: number): void {
    nextAt = clock.monotonic() + milliseconds * (0.75 + random() / 4);
  }

  return {
    assertReady() {
      const retryAfter = secondsLeft();
      if (retryAfter > 0) throw new ProviderUnavailableError("backing_off", { retryAfter });
    },
    async take() {
      const release = await slots.take();
      const retryAfter = secondsLeft();
      if (retryAfter > 0) {
        release();
        throw new ProviderUnavailableError(SIGNATURE_FAILED, { retryAfter });
      }
      if (gap() > 0) waitFor(gap());
      return release;
    },
    refused(startedAt) {
      // Of concurrent signatures, one refusal counts.
      if (startedAt <= refusedAt) return;
      widest = Math.min(LONGEST_GAP_MS, Math.max(FIRST_GAP_MS, gap() * 2));
      refusedAt = clock.monotonic();
      waitFor(widest);
    },
  };
}
