import type { Clock } from "../clock.js";
import type { UnawaitedTasks } from "../work/unawaited-tasks.js";

/**
 * Milliseconds after which a revocation runs although the browser has not come back from the
 * provider.
 */
const DELAY_MS = 30_000;

/** Revocations that wait at a time. If one more comes, the oldest runs at once. */
const MAX_WAITING_REVOCATIONS = 1_000;

export interface DelayedRevocations {
  readonly isWaiting: boolean;
  /** @param state of the logout; the browser brings it back */
  add(state: string, revoke: () => Promise<void>): void;
  /** Runs the revocation of a browser that has come back from the provider. */
  back(state: string): void;
  /** Runs all of them now, for a shutdown. */
  runAll(): void;
}

/**
 * Delays revocations until the browser comes back from the provider's logout. If the refresh token
 * is revoked earlier, Keycloak skips the logout of upstream providers. Only this process knows its
 * revocations. If the browser comes back to another process, a revocation runs after {@link DELAY_MS}.
 */
export function createDelayedRevocations(clock: Clock, tasks: UnawaitedTasks): DelayedRevocations {
  const waiting = new Map<string, () => void>();

  return {
    get isWaiting() {
      return waiting.size > 0;
    },

    add(state, revoke) {
      const run = () => {
        if (!waiting.delete(state)) return;
        cancel();
        tasks.add(revoke());
      };
      const cancel = clock.timer(DELAY_MS, run);
      waiting.set(state, run);
      if (waiting.size > MAX_WAITING_REVOCATIONS) waiting.values().next().value?.();
    },

    back(state) {
      waiting.get(state)?.();
    },

    runAll() {
      for (const run of [...waiting.values()]) run();
    },
  };
}
