import { every20, timeline } from "./timeline.mjs";

/** @typedef {import("./drawing.mjs").Drawing} Drawing */

export const title = "A session that ends when it reaches the maximum age";
export const description =
  "A user signs in, works for three hours, takes a break and works until the evening. The idle timeout begins again with each request. " +
  "The maximum age ends the session after eight hours.";

/**
 * Minutes since the sign-in. A unit test compares the day with what the interactive timeline shows
 * first.
 */
export const DAY = {
  tokenLife: 60,
  idleTimeout: 90,
  maxAge: 480,
  requests: [...every20(0, 180), ...every20(250, 470)],
  refreshes: [60, 120, 180, 250, 310, 370, 430],
  end: 480,
};

const HOURS = 10;

/** @param {Drawing} drawing */
export function draw(drawing) {
  const { lane, bar, requests, tokens, end } = timeline(drawing, HOURS);
  requests(DAY.requests);
  tokens(DAY.refreshes, DAY.tokenLife, DAY.end);
  const idle = lane("Idle timeout: 1 h 30 min after the last request");
  bar(idle, 180, 250, "faint");
  bar(idle, 0, 180);
  bar(idle, 250, DAY.end);
  bar(lane("Maximum age: 8 h after the sign-in"), 0, DAY.maxAge, "faint");
  end(DAY.end, "maximum age");
}
