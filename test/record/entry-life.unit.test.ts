import { describe, expect, it } from "vitest";
import {
  cookieLife,
  defaultTtl,
  expiryWithCookie,
  expiryWithoutCookie,
  lacksCookie,
  renewalInterval,
} from "../../src/record/entry-life.js";

const DAY = 86_400;

it.each([
  [null, 14 * DAY],
  [13 * DAY, 14 * DAY],
  [13 * DAY + 1, 14 * DAY + 1],
  [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
])("with a maximum age of %s, an entry lives for %i seconds", (maxAge, seconds) => {
  expect(defaultTtl(maxAge)).toBe(seconds);
});

it.each([
  [null, 400 * DAY],
  [3_600, DAY + 3_600],
  [399 * DAY, 400 * DAY],
  [400 * DAY, 400 * DAY],
])("with a maximum age of %s, the browser keeps the cookie for %i seconds", (maxAge, seconds) => {
  expect(cookieLife(maxAge)).toBe(seconds);
});

it.each([
  [3_600, 1_800],
  [2 * DAY, DAY],
  [14 * DAY, DAY],
])("a session that lives for %i seconds is renewed after %i", (ttl, interval) => {
  expect(renewalInterval(ttl)).toBe(interval);
});

describe.each([1_000, 1_001])("an expiry of about %i", (time) => {
  it("says whether the cookie was sent, and differs by a second at most", () => {
    const [sent, unsent] = [expiryWithCookie(time), expiryWithoutCookie(time)];
    expect([lacksCookie(sent), lacksCookie(unsent)]).toEqual([false, true]);
    expect([sent, unsent].every((expiry) => Math.abs(expiry - time) <= 1)).toBe(true);
  });
});
