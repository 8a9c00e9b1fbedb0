import { every20, timeline } from "./timeline.mjs";

/** @typedef {import("./drawing.mjs").Drawing} Drawing */

export const title = "The life of a session";
export const description =
  "A user signs in, works for three hours, takes a break and works again. The first request after each ID token's expiry refreshes the tokens. " +
  "After the last request the idle timeout ends the session, before the maximum age and the provider's own limit would.";

/**
 * Minutes since the sign-in. A unit test compares the refreshes and the end with the session
 * policy.
 */
export const DAY = {
  tokenLife: 60,
  idleTimeout: 90,
  maxAge: 480,
  sessionExpiry: 540,
  requests: [...every20(0, 180), ...every20(250, 350)],
  refreshes: [60, 120, 180, 250, 310],
  end: 440,
};

const HOURS = 10;

/** @param {Drawing} drawing */
export function draw(drawing) {
  const { lane, bar, requests, tokens, end, at, height } = timeline(drawing, HOURS);
  requests(DAY.requests);
  tokens(DAY.refreshes, DAY.tokenLife);

  const idle = lane("Idle timeout: 1 h 30 min after the last request");
  bar(idle, 0, DAY.end, "faint");
  bar(idle, 0, 180);
  bar(idle, 250, 350);

  bar(lane("Maximum age: 8 h after the sign-in"), 0, DAY.maxAge, "faint");
  bar(lane("The provider's own limit, if it sends session_expiry"), 0, DAY.sessionExpiry, "faint");
  const stored = lane("Stored record: until it's unused for 14 days");
  bar(stored, 0, HOURS * 60 - 12, "faint");
  drawing.line(
    [
      [at(HOURS * 60 - 30), stored + height / 2],
      [at(HOURS * 60), stored + height / 2],
    ],
    { end: true },
  );
  end(DAY.end, "idle timeout");
}
