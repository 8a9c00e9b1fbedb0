import type { Clock } from "../clock.js";
import type { UnawaitedTasks } from "../work/unawaited-tasks.js";

/**
 * Milliseconds after which a revocation runs although the browser has not come back from the
 * provider.
 */
const DELAY = 30_000;

/** Revocations that wait at a time. If one more comes, the oldest runs at once. */
const MAX_WAITING = 1_000;

export type DelayedRevocations = ReturnType<typeof createDelayedRevocations>;

/**
 * Delays revocations until the browser comes back from the provider's logout. If the refresh token
 * is revoked earlier, Keycloak skips the logout of upstream providers. Only this process knows its
 * revocations. If the browser comes back to another process, a revocation runs after {@link DELAY}.
 */
export function createDelayedRevocations(clock: Clock, tasks: UnawaitedTasks) {
  const waiting = new Map<string, () => void>();

  return {
    get isWaiting(): boolean {
      return waiting.size > 0;
    },

    /** @param state of the logout; the browser brings it back */
    add(state: string, revoke: () => Promise<void>): void {
      const run = () => {
        if (!waiting.delete(state)) return;
        cancel();
        tasks.add(revoke());
      };
      const cancel = clock.timer(DELAY, run);
      waiting.set(state, run);
      if (waiting.size > MAX_WAITING) waiting.values().next().value?.();
    },

    /** Runs the revocation of a browser that has come back from the provider. */
    back(state: string): void {
      waiting.get(state)?.();
    },

    /** Runs all of them now, for a shutdown. */
    runAll(): void {
      for (const run of [...waiting.values()]) run();
    },
  };
}
