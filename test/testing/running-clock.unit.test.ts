import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { RunningClock } from "../../src/testing/index.js";

// The system's own time is vitest's here, so that no test waits for it.
beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2030, 0, 1) });
});
afterEach(() => {
  vi.useRealTimers();
});

function scene() {
  const clock = new RunningClock();
  const ran: [string, number][] = [];
  const start = clock.monotonic();
  const note = (name: string) => () => void ran.push([name, clock.monotonic() - start]);
  return { clock, ran, note };
}

it("runs with the system, and stays ahead by what it was moved on", () => {
  const { clock } = scene();
  expect(clock.now()).toBe(Date.now());
  clock.advance(3_600_000);
  vi.advanceTimersByTime(5);
  expect(clock.now()).toBe(Date.UTC(2030, 0, 1) + 3_600_005);
  expect(clock.monotonic()).toBe(performance.now() + 3_600_000);
});

it("timers run by the system's time, and at once when they are moved over, each at its own time and in order", () => {
  const { clock, ran, note } = scene();
  clock.timer(300, note("third"));
  clock.timer(100, note("first"));
  clock.timer(200, note("second"));
  clock.timer(5_000, note("late"));
  vi.advanceTimersByTime(100);
  expect(ran).toEqual([["first", 100]]);
  clock.advance(200);
  expect(ran.slice(1)).toEqual([
    ["second", 200],
    ["third", 300],
  ]);
  // What is left of it is shorter by what time was moved on.
  vi.advanceTimersByTime(4_699);
  expect(ran).toHaveLength(3);
  vi.advanceTimersByTime(1);
  expect(ran.at(-1)).toEqual(["late", 5_000]);
});

it("a timer that a timer sets runs in the same span when it falls due there; one that is cancelled never", () => {
  const { clock, ran, note } = scene();
  clock.timer(100, () => {
    clock.timer(50, note("inner"));
    clock.timer(5_000, note("later"));
  });
  clock.timer(120, note("cancelled"))();
  clock.advance(1_000);
  expect(ran).toEqual([["inner", 150]]);
  vi.advanceTimersByTime(60_000);
  expect(ran.map(([name]) => name)).toEqual(["inner", "later"]);
});

it("a task that moves time on itself has moved it for good", () => {
  const { clock } = scene();
  const start = clock.monotonic();
  clock.timer(10, () => clock.advance(500));
  clock.advance(100);
  expect(clock.monotonic() - start).toBe(510);
});

it("a timer may be longer than Node's longest", () => {
  const { clock, ran, note } = scene();
  const days = 30 * 24 * 3_600_000;
  clock.timer(days, note("a month"));
  vi.advanceTimersByTime(days - 1);
  expect(ran).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(ran).toHaveLength(1);
});

it("time does not pass backwards", () => {
  const { clock } = scene();
  expect(() => clock.advance(-1)).toThrow(RangeError);
  expect(() => clock.advance(Number.NaN)).toThrow(RangeError);
});
