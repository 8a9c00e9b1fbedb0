import { expect, it } from "vitest";
import { systemClock } from "../../src/clock.js";
import { withinTime } from "../../src/stores/time-limit.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { within } from "../../src/work/deadline.js";

const late = () => new Error("late");
const pending = () => new Promise<never>(() => undefined);

it("work that ends in time gives its result or its error, and no timer remains", async () => {
  const clock = new TestClock();
  const limit = { clock, milliseconds: 10, late };
  const failure = new TypeError("failed");
  const throws = () => {
    throw failure;
  };
  expect(await within(() => Promise.resolve(1), limit)).toBe(1);
  await expect(within(() => Promise.reject(failure), limit)).rejects.toBe(failure);
  await expect(within(throws, limit)).rejects.toBe(failure);
  expect(clock.pendingTimers).toBe(0);
});

it("late work rejects with the given error, its signal is aborted, and how it ends later is ignored", async () => {
  const clock = new TestClock();
  const limit = { clock, milliseconds: 10, late };
  let fail = (): void => undefined;
  let seen: AbortSignal | undefined;
  const result = within((signal) => {
    seen = signal;
    return new Promise<never>((_resolve, reject) => {
      fail = () => {
        reject(new Error("too late to matter"));
      };
    });
  }, limit);
  clock.advance(9);
  expect(seen?.aborted).toBe(false);
  clock.advance(1);
  expect(seen?.reason).toMatchObject({ name: "TimeoutError" });
  await expect(result).rejects.toThrow("late");
  // Vitest reports a rejection that nothing handles.
  fail();
});

it("a wait for a store keeps the process alive, and a wait by the system clock does not", async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const before = timers();
  const byClock = expect(
    within(pending, { clock: systemClock, milliseconds: 20, late }),
  ).rejects.toThrow("late");
  expect(timers()).toBe(before);
  const forStore = expect(withinTime(pending(), 20)).rejects.toMatchObject({
    code: "store_unavailable",
  });
  expect(timers()).toBe(before + 1);
  await Promise.all([byClock, forStore]);
});
