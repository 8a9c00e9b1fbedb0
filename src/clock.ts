/**
 * Whole seconds since 1970-01-01T00:00:00Z, the unit of `exp`, `idp_login_at` and
 * `idp_last_active`.
 */
export type EpochSeconds = number;

/**
 * The only source of time. All code that reads the time or waits does it through a clock that it
 * was given.
 */
export interface Clock {
  /** Wall clock in milliseconds since the epoch. May step backwards. */
  now(): number;
  /** Milliseconds since an arbitrary moment. Never steps backwards. */
  monotonic(): number;
  /**
   * Runs `task` once after `milliseconds`. Returns a function that cancels it. Does not keep the
   * process alive.
   */
  timer(milliseconds: number, task: () => void): () => void;
}

/** The real time, from `Date` and `performance`. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  timer(milliseconds, task) {
    const handle = setTimeout(task, milliseconds);
    handle.unref();
    return () => {
      clearTimeout(handle);
    };
  },
};

export function epochSeconds(clock: Clock): EpochSeconds {
  return Math.floor(clock.now() / 1000);
}

/**
 * Whether an epoch time has passed. The named second itself counts as passed, so an ID token is
 * unusable from `exp` on (OpenID Connect Core section 2). A target that is not a finite number
 * counts as passed.
 *
 * @param target epoch seconds, usually the `exp` claim
 * @param now epoch seconds; default the system clock
 */
export function hasEpochTimePassed(
  target: number,
  now: EpochSeconds = epochSeconds(systemClock),
): boolean {
  return !(typeof target === "number" && Number.isFinite(target) && target > now);
}

/** Resolves after `milliseconds` of the clock's time. */
export function wait(clock: Clock, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    clock.timer(milliseconds, resolve);
  });
}

/** Resolves after other waiting work has run. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
