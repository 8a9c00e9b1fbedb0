import { describe, expect, it } from "vitest";
import { IdleTimer } from "../../src/apis/idle-timer.js";
import { TestClock } from "../../src/testing/test-clock.js";

function started(seconds = 10) {
  const clock = new TestClock();
  let expired = 0;
  const timer = new IdleTimer(clock, seconds, () => (expired += 1));
  return { clock, timer, expired: () => expired };
}

describe("the time that an API may be idle", () => {
  it("ends once, exactly after that many seconds", () => {
    const { clock, expired } = started();
    clock.advance(9_999);
    expect(expired()).toBe(0);
    clock.advance(1);
    clock.advance(60_000);
    expect([expired(), clock.pendingTimers]).toEqual([1, 0]);
  });

  it("begins anew when something moves", () => {
    const { clock, timer, expired } = started();
    for (let count = 0; count < 5; count++) {
      clock.advance(9_000);
      timer.moved("download");
    }
    expect(expired()).toBe(0);
    clock.advance(9_999);
    expect(expired()).toBe(0);
    clock.advance(1);
    expect(expired()).toBe(1);
  });

  it.each([["upload"], ["download"]] as const)("doesn't count while the %s waits", (side) => {
    const { clock, timer, expired } = started();
    clock.advance(9_000);
    timer.waits(side);
    clock.advance(600_000);
    timer.moved(side);
    clock.advance(9_999);
    expect(expired()).toBe(0);
    clock.advance(10_000);
    expect(expired()).toBe(1);
  });

  it("doesn't count until both directions have moved", () => {
    const { clock, timer, expired } = started();
    timer.waits("upload");
    timer.waits("download");
    timer.moved("download");
    clock.advance(600_000);
    expect(expired()).toBe(0);
    timer.moved("upload");
    timer.waits("download");
    clock.advance(600_000);
    expect(expired()).toBe(0);
    timer.moved("download");
    clock.advance(20_000);
    expect(expired()).toBe(1);
  });

  it("never ends after a stop, also not after a look that found it moving", () => {
    const { clock, timer, expired } = started();
    clock.advance(5_000);
    timer.moved("download");
    clock.advance(5_000);
    timer.stop();
    clock.advance(60_000);
    expect([expired(), clock.pendingTimers]).toEqual([0, 0]);
  });
});
