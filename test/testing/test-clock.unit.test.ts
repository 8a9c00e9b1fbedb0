import { describe, expect, it } from "vitest";
import { systemClock, wait } from "../../src/clock.js";
import { TestClock } from "../../src/testing/test-clock.js";

const START = 1_000_000;

describe("a test clock", () => {
  it("stands still until it is moved", async () => {
    const clock = new TestClock(START);
    const before = [clock.now(), clock.monotonic()];
    await wait(systemClock, 5);
    expect([clock.now(), clock.monotonic()]).toEqual(before);
    clock.advance(250);
    expect([clock.now(), clock.monotonic() - before[1]!]).toEqual([START + 250, 250]);
  });

  it("starts in the past unless set otherwise", () => {
    expect(new TestClock().now()).toBe(Date.parse("2024-01-01T00:00:00Z"));
  });

  it("runs timers when they are due and not a millisecond earlier, in the order of their times", () => {
    const clock = new TestClock(START);
    const ran: [string, number][] = [];
    const note = (name: string) => () => ran.push([name, clock.now() - START]);
    clock.timer(30, note("third"));
    clock.timer(10, note("first"));
    clock.timer(10, note("second"));
    clock.timer(40, note("never"));
    clock.advance(9);
    expect(ran).toEqual([]);
    clock.advance(21);
    expect(ran).toEqual([
      ["first", 10],
      ["second", 10],
      ["third", 30],
    ]);
    expect(clock.pendingTimers).toBe(1);
  });

  it("runs what a timer sets, when it falls due within the same span", () => {
    const clock = new TestClock(START);
    const ran: number[] = [];
    const again = () => {
      ran.push(clock.now() - START);
      clock.timer(10, again);
    };
    clock.timer(10, again);
    clock.advance(35);
    expect(ran).toEqual([10, 20, 30]);
    expect(clock.now()).toBe(START + 35);
  });

  it("runs no timer twice, and none that was cancelled", () => {
    const clock = new TestClock(START);
    let ran = 0;
    const cancel = clock.timer(1, () => {
      ran += 1;
    });
    clock.timer(1, () => {
      ran += 10;
    });
    cancel();
    cancel();
    clock.advance(1);
    clock.advance(1);
    expect([ran, clock.pendingTimers]).toEqual([10, 0]);
  });

  it("sets the wall clock without time passing", () => {
    const clock = new TestClock(START);
    const before = clock.monotonic();
    let ran = false;
    clock.timer(10, () => {
      ran = true;
    });
    clock.setNow(START + 3_600_000);
    expect([clock.now(), clock.monotonic(), ran]).toEqual([START + 3_600_000, before, false]);
    clock.setNow(START - 3_600_000);
    clock.advance(10);
    expect([clock.now(), ran]).toEqual([START - 3_600_000 + 10, true]);
  });

  it("refuses to let time pass backwards", () => {
    expect(() => new TestClock().advance(-1)).toThrow(RangeError);
  });

  it("lets promises settle between timers when the option is set", async () => {
    const clock = new TestClock(START);
    const steps: number[] = [];
    const walk = async () => {
      for (let step = 0; step < 3; step += 1) {
        await wait(clock, 10);
        steps.push(clock.now() - START);
      }
    };
    const walked = walk();
    await clock.advanceAsync(30);
    await walked;
    expect(steps).toEqual([10, 20, 30]);
  });
});
