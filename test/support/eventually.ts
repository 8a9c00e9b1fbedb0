import { setTimeout as sleep } from "node:timers/promises";

const INTERVAL = 20;

/**
 * For `vi.waitFor`: how long a test waits for what other work on the machine may delay, and how
 * often it looks. Milliseconds.
 */
export const PATIENCE = { timeout: 60_000, interval: 5 };

/**
 * Waits until `check` does not reject any more; for what another process does in its own time.
 * Rejects with its last error.
 */
export async function eventually<Result>(
  check: () => Promise<Result>,
  milliseconds = 60_000,
): Promise<Result> {
  const giveUp = performance.now() + milliseconds;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > giveUp) throw error;
      await sleep(INTERVAL);
    }
  }
}
