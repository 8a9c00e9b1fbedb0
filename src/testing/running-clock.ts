import type { Clock } from "../index.js";

/** A clock that a test can advance. */
export interface MovableClock extends Clock {
  /**
   * Time passes at once: timers that fall due run in the order of their due times. Milliseconds,
   * not negative.
   */
  advance(milliseconds: number): void;
}

interface Timer {
  /** In the clock's monotonic milliseconds. */
  readonly due: number;
  readonly task: () => void;
  handle: NodeJS.Timeout | undefined;
}

/** Node runs a longer timeout at once. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

/** The system's time plus the time by which a test has advanced it. It never moves back. */
export class RunningClock implements MovableClock {
  #ahead = 0;
  readonly #timers = new Set<Timer>();

  now(): number {
    return Date.now() + this.#ahead;
  }

  monotonic(): number {
    return performance.now() + this.#ahead;
  }

  timer(milliseconds: number, task: () => void): () => void {
    const timer: Timer = {
      due: this.monotonic() + Math.max(0, milliseconds),
      task,
      handle: undefined,
    };
    this.#timers.add(timer);
    this.#arm(timer);
    return () => {
      this.#forget(timer);
    };
  }

  advance(milliseconds: number): void {
    if (typeof milliseconds !== "number" || !(milliseconds >= 0))
      throw new RangeError("pass a number of milliseconds, 0 or more");
    const end = this.#ahead + milliseconds;
    for (;;) {
      const next = this.#earliest();
      const missing = next === undefined ? Infinity : Math.max(0, next.due - this.monotonic());
      if (next === undefined || this.#ahead + missing > end) break;
      this.#ahead += missing;
      this.#forget(next);
      next.task();
    }
    // A task that advances the clock itself has moved it further already.
    this.#ahead = Math.max(this.#ahead, end);
    for (const timer of this.#timers) this.#arm(timer);
  }

  #earliest(): Timer | undefined {
    let earliest: Timer | undefined;
    for (const timer of this.#timers) {
      if (earliest === undefined || timer.due < earliest.due) earliest = timer;
    }
    return earliest;
  }

  #arm(timer: Timer): void {
    clearTimeout(timer.handle);
    timer.handle = setTimeout(
      () => {
        // Node's timeouts may run slightly early, and very long ones are split.
        if (this.monotonic() < timer.due) this.#arm(timer);
        else {
          this.#forget(timer);
          timer.task();
        }
      },
      Math.min(LONGEST_TIMEOUT_MS, Math.max(0, Math.ceil(timer.due - this.monotonic()))),
    );
    timer.handle.unref();
  }

  #forget(timer: Timer): void {
    clearTimeout(timer.handle);
    this.#timers.delete(timer);
  }
}
