import assert from "node:assert/strict";

/** Waits for what real processes do in their own time. Rejects after `milliseconds`. */
export async function until(
  what: string,
  isDone: () => boolean | Promise<boolean>,
  milliseconds = 60_000,
): Promise<void> {
  const giveUpAt = performance.now() + milliseconds;
  while (!(await isDone())) {
    assert.ok(performance.now() < giveUpAt, `waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
