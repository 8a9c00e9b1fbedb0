import type { UnawaitedTasks } from "../work/unawaited-tasks.js";
import type { Clock } from "../clock.js";

/** Milliseconds after which a revocation runs although the browser has not come back from the provider. */
const DELAY = 30_000;

/** Revocations that wait at a time. If one more comes, the oldest runs at once. */
const MAX_WAITING = 1_000;

/**
 * Delays revocations until the browser comes back from the provider's logout. If the refresh token is revoked earlier, Keycloak skips the
 * logout of upstream providers. Only this process knows its revocations. If the browser comes back to another process, a revocation runs
 * after {@link DELAY}.
 */
export class DelayedRevocations {
  readonly #waiting = new Map<string, () => void>();
  readonly #clock: Clock;
  readonly #tasks: UnawaitedTasks;

  constructor(clock: Clock, tasks: UnawaitedTasks) {
    this.#clock = clock;
    this.#tasks = tasks;
  }

  get isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** @param state of the logout; the browser brings it back */
  add(state: string, revoke: () => Promise<void>): void {
    const run = () => {
      if (!this.#waiting.delete(state)) return;
      cancel();
      this.#tasks.add(revoke());
    };
    const cancel = this.#clock.timer(DELAY, run);
    this.#waiting.set(state, run);
    if (this.#waiting.size > MAX_WAITING) this.#waiting.values().next().value?.();
  }

  /** Runs the revocation of a browser that has come back from the provider. */
  back(state: string): void {
    this.#waiting.get(state)?.();
  }

  /** Runs all of them now, for a shutdown. */
  runAll(): void {
    for (const run of [...this.#waiting.values()]) run();
  }
}
