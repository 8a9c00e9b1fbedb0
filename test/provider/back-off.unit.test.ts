import { describe, expect, it } from "vitest";
import { ProviderUnavailableError } from "../../src/errors.js";
import { createBackOff, retryAfterSeconds } from "../../src/provider/back-off.js";
import { TestClock } from "../../src/testing/test-clock.js";

function rig(random = () => 1) {
  const clock = new TestClock();
  const backOff = createBackOff(clock, random);
  return {
    clock,
    backOff,
    fail: (retryAfter?: string) => backOff.failed(clock.monotonic(), { retryAfter }),
  };
}

describe("[F18] backing off from an endpoint", () => {
  it("doubles from 1 s to 30 s, one step for each outage in a row", () => {
    const { clock, backOff, fail } = rig();
    const waits = Array.from({ length: 7 }, () => {
      const left = fail();
      clock.advance(left * 1000);
      backOff.assertReady();
      return left;
    });
    expect(waits).toEqual([1, 2, 4, 8, 16, 30, 30]);
  });

  it("rejects at once until it ends, with the seconds that are left", () => {
    const { clock, backOff, fail } = rig();
    fail("10");
    clock.advance(3500);
    const error = (() => {
      try {
        backOff.assertReady();
      } catch (thrown) {
        return thrown;
      }
      return undefined;
    })();
    expect(error).toBeInstanceOf(ProviderUnavailableError);
    expect(error).toMatchObject({ reason: "backing_off", retryAfter: 7 });
  });

  it("a success resets it", () => {
    const { clock, backOff, fail } = rig();
    for (let round = 0; round < 4; round++) clock.advance(fail() * 1000);
    backOff.succeeded();
    expect(backOff.secondsLeft()).toBe(0);
    expect(fail()).toBe(1);
  });

  it("many requests that fail together are one outage", () => {
    const { clock, backOff } = rig();
    const startedAt = clock.monotonic();
    clock.advance(100);
    const waits = Array.from({ length: 50 }, () => backOff.failed(startedAt));
    expect(new Set(waits)).toEqual(new Set([1]));
  });

  it("jitter shortens the wait by up to a quarter", () => {
    const { clock, backOff, fail } = rig(() => 0);
    fail();
    clock.advance(749);
    expect(() => {
      backOff.assertReady();
    }).toThrow(ProviderUnavailableError);
    clock.advance(1);
    backOff.assertReady();
  });

  it.each([
    ["5", 5],
    ["60", 60],
    ["3600", 60],
    ["0", undefined],
    ["-5", undefined],
    ["1.5", undefined],
    ["soon", undefined],
    ["", undefined],
    ["Mon, 01 Jan 2024 00:00:20 GMT", 20],
    ["Mon, 01 Jan 2024 09:00:00 GMT", 60],
    ["Sun, 31 Dec 2023 00:00:00 GMT", undefined],
    [null, undefined],
  ])("Retry-After %j means %j seconds", (value, expected) => {
    expect(retryAfterSeconds(value, Date.UTC(2024, 0, 1))).toBe(expected);
  });
});
