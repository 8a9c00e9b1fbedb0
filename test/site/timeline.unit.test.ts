import { describe, expect, it } from "vitest";
import { DAY as LIFE } from "../../site/diagrams/life-of-a-session.mjs";
import { DAY as TIMELINE } from "../../site/diagrams/session-timeline.mjs";
import {
  describe as inWords,
  duration,
  requestTimes,
  simulate,
  type Day,
} from "../../site/timeline/simulate.js";

const DAY: Day = {
  tokenLife: 60,
  idleTimeout: 90,
  maxAge: 480,
  every: 20,
  breakLength: 70,
  isRefreshable: true,
};

describe("the timeline of a session", () => {
  it("ends at the maximum age, and the next request finds it ended", () => {
    const course = simulate(DAY);
    expect(course.end).toEqual({ at: 480, limit: "max_age", foundAt: 490, reason: "max_age" });
    expect(inWords(course)).toBe(
      "The session ends after 8 h, when the maximum age is reached. The next request, after 8 h 10 min, gets the reason max_age. " +
        "The tokens are refreshed 7 times.",
    );
  });

  it("refreshes with the first request after the ID token's expiry, and not while the user is away", () => {
    expect(simulate(DAY).tokens.map(({ from }) => from)).toEqual([
      0, 60, 120, 180, 250, 310, 370, 430,
    ]);
  });

  it("ends in a break that is longer than the idle timeout", () => {
    expect(simulate({ ...DAY, breakLength: 100 }).end).toEqual({
      at: 270,
      limit: "idle",
      foundAt: 280,
      reason: "idle",
    });
    expect(simulate({ ...DAY, breakLength: 90 }).end?.limit).toBe("max_age");
  });

  it("names the limit that is reached first, and the reason that the next request gets", () => {
    const course = simulate({ ...DAY, maxAge: 300, breakLength: 200 });
    expect(course.end).toEqual({ at: 270, limit: "idle", foundAt: 380, reason: "max_age" });
  });

  it("ends with the ID token if there is no refresh token", () => {
    const course = simulate({ ...DAY, isRefreshable: false });
    expect(course.end).toEqual({
      at: 60,
      limit: "no_refresh_token",
      foundAt: 60,
      reason: "no_refresh_token",
    });
    expect(inWords(course)).toContain("when the ID token expires and there's no refresh token");
  });

  it("doesn't end without limits", () => {
    const course = simulate({ ...DAY, idleTimeout: null, maxAge: null, breakLength: 300 });
    expect(course.end).toBeNull();
    expect(inWords(course)).toContain("still valid after 12 h");
  });

  it.each([
    [120, 0, [0, 120, 240, 360, 480, 600, 720]],
    [120, 150, [0, 120, 330, 450, 570, 690]],
  ])("a request every %i minutes with a break of %i", (every, breakLength, times) => {
    expect(requestTimes({ every, breakLength })).toEqual(times);
  });

  it.each([
    [0, "0 min"],
    [45, "45 min"],
    [120, "2 h"],
    [490, "8 h 10 min"],
  ])("%i minutes are %s", (minutes, text) => {
    expect(duration(minutes)).toBe(text);
  });
});

it("the figure of a session's life shows what the policy decides", () => {
  const { tokenLife, idleTimeout, maxAge, requests, refreshes, end } = LIFE;
  // The first request after the end of the day.
  const course = simulate({ ...DAY, tokenLife, idleTimeout, maxAge }, [...requests, 600]);
  expect(course.tokens.map(({ from }) => from)).toEqual([0, ...refreshes]);
  expect(course.end).toMatchObject({ at: end, limit: "idle" });
});

it("the figure in place of the timeline shows what the timeline shows first", () => {
  const { requests, refreshes, end, ...settings } = TIMELINE;
  expect(DAY).toMatchObject(settings);
  const course = simulate(DAY);
  expect(course.requests).toEqual(requests);
  expect(course.tokens.map(({ from }) => from)).toEqual([0, ...refreshes]);
  expect(course.end?.at).toBe(end);
});
