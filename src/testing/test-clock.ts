import type { Clock } from "../index.js";

interface Timer {
  /** In the clock's monotonic milliseconds. */
  readonly due: number;
  readonly task: () => void;
}

/**
 * The default start is in the past on purpose: code that reads the system's time instead of the
 * clock finds everything expired.
 */
const DEFAULT_START = Date.UTC(2024, 0, 1);

/** A clock that stands still until a test moves it. */
export class TestClock implements Clock {
  #now: number;
  #monotonic = 0;
  #timers: Timer[] = [];

  /** @param startAt milliseconds since the epoch; default 2024-01-01T00:00:00Z */
  constructor(startAt: number = DEFAULT_START) {
    this.#now = startAt;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  timer(milliseconds: number, task: () => void): () => void {
    const timer = { due: this.#monotonic + Math.max(0, milliseconds), task };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** The number of timers that have neither run nor been cancelled. */
  get pendingTimers(): number {
    return this.#timers.length;
  }

  /**
   * Time passes. Timers that fall due run in the order of their due times, each at its own; those
   * that they set run too, when they fall due within the same span. What a task sets only after a
   * promise is not seen: see {@link advanceAsync}.
   */
  advance(milliseconds: number): void {
    const end = this.#endOf(milliseconds);
    while (this.#runNext(end));
    this.#moveTo(end);
  }

  /**
   * As `advance`, with a turn of the event loop after each timer and at the end, so that promises
   * settle and set theirs.
   */
  async advanceAsync(milliseconds: number): Promise<void> {
    const end = this.#endOf(milliseconds);
    do await turn();
    while (this.#runNext(end));
    this.#moveTo(end);
    await turn();
  }

  /**
   * Sets the wall clock forwards or backwards, as an administrator would. No time passes, so no
   * timer runs.
   */
  setNow(epochMilliseconds: number): void {
    this.#now = epochMilliseconds;
  }

  #endOf(milliseconds: number): number {
    if (typeof milliseconds !== "number" || !(milliseconds >= 0)) {
      throw new RangeError(
        "pass a number of milliseconds, 0 or more; to move the wall clock back, use setNow",
      );
    }
    return this.#monotonic + milliseconds;
  }

  /**
   * Runs the earliest timer that is due by `end`, if there is one. Of several due at once, the one
   * set first.
   */
  #runNext(end: number): boolean {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.due <= end && (next === undefined || timer.due < next.due)) next = timer;
    }
    if (next === undefined) return false;
    this.#timers = this.#timers.filter((other) => other !== next);
    this.#moveTo(next.due);
    next.task();
    return true;
  }

  #moveTo(monotonic: number): void {
    // A task that advances the clock itself has moved it further already.
    const passed = Math.max(0, monotonic - this.#monotonic);
    this.#monotonic += passed;
    this.#now += passed;
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
