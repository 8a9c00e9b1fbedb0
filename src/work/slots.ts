import type { Clock } from "../clock.js";
import { ProviderUnavailableError } from "../errors.js";

/**
 * Requests that may wait for each slot. A later request gets a 503 at once, because no user would
 * wait that long.
 */
const QUEUED_REQUESTS = 50;

/**
 * Bounds of the estimated seconds until the queue is free. Up to twice the estimate is sent, to
 * spread the retries.
 */
const RETRY_AFTER_SECONDS = { least: 1, most: 30 };

/** The weight of the newest duration in the running average. */
const NEWEST_DURATION_SHARE = 0.1;

/** Releases the slot. */
export type Release = () => void;

export interface SlotOptions {
  /** 1 or more. */
  readonly limit: number;
  /** The reason in the error when a slot is refused. */
  readonly reason: string;
  readonly clock: Clock;
  /** Milliseconds that a request waits for a slot. Default: no limit. */
  readonly patience?: number;
}

interface Waiting {
  proceed: () => void;
  hasLeft: boolean;
}

/**
 * Limits how many requests of one kind are at the provider at a time: ten thousand sessions that
 * expire in the same second must not become ten thousand connections. First come, first served.
 */
export interface Slots {
  /**
   * @throws ProviderUnavailableError with the reason of the options: the queue is full, or
   *   `patience` is over
   */
  take(): Promise<Release>;
}

export function createSlots(options: SlotOptions): Slots {
  return new QueuedSlots(options);
}

/** A class, because each of a thousand providers may have slots of its own. */
class QueuedSlots implements Slots {
  readonly #options: SlotOptions;
  #queue: Waiting[] = [];
  /** Index of the first waiting request. A shift of a long array would move every element. */
  #first = 0;
  #left = 0;
  #taken = 0;
  /** Running average of the milliseconds that a slot is held. */
  #duration = 0;

  constructor(options: SlotOptions) {
    this.#options = options;
  }

  async take(): Promise<Release> {
    const { limit, clock } = this.#options;
    if (this.#taken < limit) this.#taken += 1;
    else await this.#wait();
    const since = clock.monotonic();
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#duration += NEWEST_DURATION_SHARE * (clock.monotonic() - since - this.#duration);
      this.#pass();
    };
  }

  #wait(): Promise<void> {
    const { limit, clock, patience } = this.#options;
    if (this.#queued() >= limit * QUEUED_REQUESTS) return Promise.reject(this.#refused());
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { proceed: resolve, hasLeft: false };
      this.#queue.push(waiting);
      if (patience === undefined) return;
      const cancel = clock.timer(patience, () => {
        waiting.hasLeft = true;
        this.#left += 1;
        reject(this.#refused());
      });
      waiting.proceed = () => {
        cancel();
        resolve();
      };
    });
  }

  #queued(): number {
    return this.#queue.length - this.#first - this.#left;
  }

  /** Hands the slot to the request that waits longest. Without one, the slot becomes free. */
  #pass(): void {
    for (;;) {
      const next = this.#queue[this.#first];
      if (next === undefined) {
        this.#taken -= 1;
        return;
      }
      this.#first += 1;
      if (this.#first * 2 >= this.#queue.length) {
        this.#queue.splice(0, this.#first);
        this.#first = 0;
      }
      if (!next.hasLeft) {
        next.proceed();
        return;
      }
      this.#left -= 1;
    }
  }

  #refused(): ProviderUnavailableError {
    const { limit, reason } = this.#options;
    const seconds = (this.#queued() * this.#duration) / limit / 1000;
    const estimate = Math.min(
      RETRY_AFTER_SECONDS.most,
      Math.max(RETRY_AFTER_SECONDS.least, seconds),
    );
    // Random, so that requests refused together do not come back together.
    return new ProviderUnavailableError(reason, {
      retryAfter: Math.ceil(estimate * (1 + Math.random())),
    });
  }
}

/**
 * Returns what takes a slot of its own and a common one: while the requests of one kind hang, they
 * hold few of the common slots.
 */
export function slotsWithin(own: Slots, common: Slots): () => Promise<Release> {
  return async () => {
    const first = await own.take();
    const second = await common.take().catch((error: unknown) => {
      first();
      throw error;
    });
    return () => {
      first();
      second();
    };
  };
}

/** Runs a task. A call during a run gets the result of that run. */
export interface OneAtATime<Result> {
  (): Promise<Result>;
  readonly isRunning: () => boolean;
}

export function oneAtATime<Result>(task: () => Promise<Result>): OneAtATime<Result> {
  let running: Promise<Result> | undefined;
  const run = () => {
    running ??= task().finally(() => {
      running = undefined;
    });
    return running;
  };
  return Object.assign(run, { isRunning: () => running !== undefined });
}
