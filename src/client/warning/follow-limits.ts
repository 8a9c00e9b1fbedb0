import type { Client } from "../client-interface.js";
import { viewOf, type WarningView } from "./choose-warning-view.js";

/** Milliseconds of the longest timer: a computer that sleeps delays its timers. */
const LONGEST_PAUSE_MS = 10_000;

/** The time in a browser, or in a test. */
export interface WarningClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Runs `task` once after `milliseconds`. @returns a function that cancels it */
  timer(milliseconds: number, task: () => void): () => void;
}

export const BROWSER_CLOCK: WarningClock = {
  now: () => Date.now(),
  timer(milliseconds, task) {
    const timer = setTimeout(task, milliseconds);
    return () => clearTimeout(timer);
  },
};

export interface LimitParts {
  readonly client: Client<object>;
  readonly clock: WarningClock;
  /** Returns seconds before the end of the session. */
  readonly before: () => number;
  /** Called at the start, with each state of the client, and each second of a countdown. */
  readonly show: (view: WarningView) => void;
}

/** Follows the limits of one client's session. */
export interface LimitFollower {
  start(): void;
  /** Shows what is to be shown now. */
  update(): void;
  /** Ends its timer and its subscription. It can start again, and knows what it knew. */
  stop(): void;
}

export function createLimitFollower({ client, clock, before, show }: LimitParts): LimitFollower {
  // The session may have ended before this starts.
  let wasSignedIn = Boolean(client.getInitialState().account);
  let cancel = () => {};
  let unsubscribe = () => {};
  const update = () => {
    cancel();
    const state = client.getState();
    const now = clock.now();
    wasSignedIn ||= Boolean(state.account);
    const view = viewOf(state, { now, before: before(), wasSignedIn });
    const left = (state.deadlines?.end ?? 0) - now;
    // After the end only the state changes what is shown.
    if (left > 0)
      cancel = clock.timer(
        view.kind === "none"
          ? Math.min(left - before() * 1000, LONGEST_PAUSE_MS)
          : left % 1000 || 1000,
        update,
      );
    show(view);
  };
  const stop = () => {
    cancel();
    unsubscribe();
  };
  return {
    start() {
      stop();
      unsubscribe = client.subscribe(update);
      update();
    },
    update,
    stop,
  };
}
