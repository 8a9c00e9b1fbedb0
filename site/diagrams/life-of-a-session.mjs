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
  const { width, isNarrow } = drawing;
  const edge = isNarrow ? 14 : 24;
  const scale = (width - 2 * edge) / (HOURS * 60);
  const at = (/** @type {number} */ minutes) => edge + minutes * scale;
  const height = 12;
  let y = 16;
  const atTheEnd = drawing.later();

  /** @param {string} text */
  const lane = (text) => {
    y = drawing.text(text, { x: edge, y, width: width - 2 * edge, size: 12, haloed: true }) + 4;
    const top = y;
    y += height + 14;
    return top;
  };
  const bar = (
    /** @type {number} */ top,
    /** @type {number} */ from,
    /** @type {number} */ to,
    /** @type {"full" | "faint"} */ kind = "full",
  ) => drawing.bar({ x: at(from), y: top, width: (to - from) * scale, height }, kind);

  const requests = lane("Requests, with a break");
  for (const minute of DAY.requests)
    drawing.line(
      [
        [at(minute) + 0.75, requests],
        [at(minute) + 0.75, requests + height],
      ],
      { accent: true },
    );

  const tokens = lane("ID tokens. The first request after the expiry refreshes (◆)");
  for (const from of [0, ...DAY.refreshes])
    bar(tokens, from + 1.5, from + DAY.tokenLife - 1.5, "faint");
  for (const minute of DAY.refreshes) drawing.diamond(at(minute), tokens + height / 2, 6);

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

  const session = lane("Session: ends at the limit that's reached first");
  bar(session, 0, DAY.end);
  drawing.text("idle timeout", {
    x: at(DAY.end) + 8,
    y: session - 3,
    width: 120,
    size: 12,
    bold: true,
  });
  atTheEnd(() =>
    drawing.line(
      [
        [at(DAY.end), 18],
        [at(DAY.end), session + height + 6],
      ],
      { dashed: true },
    ),
  );

  for (let hour = 0; hour < HOURS; hour += isNarrow ? 2 : 1)
    drawing.text(hour === 0 ? "0" : `${hour} h`, {
      x: at(hour * 60),
      y: session + height + 10,
      width: 60,
      size: 11,
      soft: true,
      centered: true,
    });
}

/**
 * @param {number} from
 * @param {number} to
 * @returns {number[]}
 */
function every20(from, to) {
  return Array.from({ length: Math.floor((to - from) / 20) + 1 }, (_, index) => from + 20 * index);
}
