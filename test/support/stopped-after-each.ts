import { afterEach, expect } from "vitest";

/**
 * What the tests of a file have to stop, the last one first, after each of them. A test after which
 * an error is uncaught, or a rejection unhandled, fails.
 */
export function stoppedAfterEach(): (() => unknown)[] {
  const running: (() => unknown)[] = [];
  const uncaught: unknown[] = [];
  const take = (error: unknown) => void uncaught.push(error);
  process.on("uncaughtException", take).on("unhandledRejection", take);
  afterEach(async () => {
    for (const stop of running.splice(0).reverse()) await stop();
    await new Promise((resolve) => setImmediate(resolve));
    expect(uncaught.splice(0)).toEqual([]);
  });
  return running;
}
