import { expect, it } from "vitest";
import { textsIn } from "./texts-in.js";

const english = textsIn("en");

it.each([
  [0, "0 seconds"],
  [1, "1 second"],
  [59, "59 seconds"],
  [60, "1 minute"],
  [1800, "30 minutes"],
  [5400, "1 hour 30 minutes"],
  [28_800, "8 hours"],
  [86_401, "1 day 1 second"],
  [1_209_600, "14 days"],
])("%i seconds are said as %s", (seconds, spoken) => {
  expect(english.duration(seconds)).toBe(spoken);
});

it.each([
  [-5, "less than a minute ago"],
  [59, "less than a minute ago"],
  [60, "1 minute ago"],
  [7_199, "1 hour ago"],
  [86_400 * 14.9, "14 days ago"],
])("%d seconds have passed since %s", (seconds, rough) => {
  expect(english.ago(seconds)).toBe(rough);
});
