import { ProviderUnavailableError } from "../core/errors.js";
import type { Clock } from "../core/time.js";

/** How many may wait for each slot. Whoever comes later is better served by a quick 503 than by a wait nobody sits out. */
const QUEUE_PER_SLOT = 50;

/** Seconds until the queue is expected to be free, at the least and at the most; up to twice that is told, to spread who comes back. */
const RETRY_AFTER = { least: 1, most: 30 };

/** How much the newest duration counts in the running average. */
const WEIGHT = 0.1;

/** Gives the slot back. */
export type Release = () => void;

/**
 * Bounds how many refreshes are at the provider at a time, so that ten thousand sessions that expire in the same second
 * do not become ten thousand connections. First come, first served.
 */
export class RefreshSlots {
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  /** Index of the first that still waits; a shift of a long array would move all the rest. */
  #next = 0;
  #taken = 0;
  /** Milliseconds that a slot was held for lately, on average. */
  #duration = 0;

  /** @param limit 1 or more */
  constructor(limit: number, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  /** @throws ProviderUnavailableError `refresh_queue_full`: as many wait already as may */
  async take(): Promise<Release> {
    if (this.#taken < this.#limit) this.#taken += 1;
    else await this.#queue();
    const since = this.#clock.monotonic();
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#duration += WEIGHT * (this.#clock.monotonic() - since - this.#duration);
      this.#pass();
    };
  }

  #queue(): Promise<void> {
    const queued = this.#waiting.length - this.#next;
    if (queued >= this.#limit * QUEUE_PER_SLOT) {
      return Promise.reject(new ProviderUnavailableError("refresh_queue_full", { retryAfter: this.#secondsUntilFree(queued) }));
    }
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /** The slot goes to whoever waits longest, or back. */
  #pass(): void {
    const next = this.#waiting[this.#next];
    if (next === undefined) {
      this.#taken -= 1;
      return;
    }
    this.#next += 1;
    if (this.#next * 2 >= this.#waiting.length) {
      this.#waiting.splice(0, this.#next);
      this.#next = 0;
    }
    next();
  }

  #secondsUntilFree(queued: number): number {
    const seconds = (queued * this.#duration) / this.#limit / 1000;
    const estimate = Math.min(RETRY_AFTER.most, Math.max(RETRY_AFTER.least, seconds));
    // Spread, or all who were turned away in one moment would be back in one moment.
    return Math.ceil(estimate * (1 + Math.random()));
  }
}
