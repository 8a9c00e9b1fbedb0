import { expect, it } from "vitest";
import { hasEpochTimePassed } from "../../src/adapter.js";

it.each([
  [99, 100, true],
  [100, 100, true],
  [101, 100, false],
  [100.5, 100, false],
  [0, 100, true],
  [-1, 100, true],
  [NaN, 100, true],
  [Infinity, 100, true],
  [undefined, 100, true],
  ["101", 100, true],
  [null, 100, true],
])("hasEpochTimePassed(%s, now %i) is %s", (target, now, passed) => {
  expect(hasEpochTimePassed(target as number, now)).toBe(passed);
});

it("hasEpochTimePassed reads the system's clock by default", () => {
  const now = Date.now() / 1000;
  expect(hasEpochTimePassed(now - 10)).toBe(true);
  expect(hasEpochTimePassed(now + 1_000)).toBe(false);
});
