import type { Clock } from "../../clock.js";

/** Between two slices while there is more to remove: other statements get their turn, and the disk some rest. */
const PAUSE_MILLISECONDS = 20;

/**
 * Runs `slice` again and again: at once more while a slice was full, else after the interval. The next run is set when the
 * last has ended, so there are never two, however slow they are.
 */
export class PostgresSweep {
  readonly #clock: Clock;
  readonly #interval: number;
  /** Whether the slice was full, so that there is probably more. */
  readonly #slice: () => Promise<boolean>;
  #cancelTimer: (() => void) | undefined;
  #running: Promise<void> | undefined;
  #isStopped = false;

  /** @param interval milliseconds; 0: never */
  constructor(clock: Clock, interval: number, slice: () => Promise<boolean>) {
    this.#clock = clock;
    this.#interval = interval;
    this.#slice = slice;
    if (interval > 0) this.#next(false);
  }

  /** Resolves when a slice that was running has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    await this.#running;
  }

  #next(isMore: boolean): void {
    if (this.#isStopped) return;
    // The processes of a fleet start together, and should not all sweep at the same moments.
    const pause = isMore ? PAUSE_MILLISECONDS : this.#interval * (0.5 + Math.random() / 2);
    this.#cancelTimer = this.#clock.timer(pause, () => {
      this.#running = this.#run();
    });
  }

  async #run(): Promise<void> {
    // In an outage there is nothing to say that the sessions' own operations do not say; the next time will do.
    const isMore = await this.#slice().catch(() => false);
    this.#next(isMore);
  }
}
