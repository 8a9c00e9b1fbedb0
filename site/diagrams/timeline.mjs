/** @typedef {import("./drawing.mjs").Drawing} Drawing */

/** The height of a bar. */
const HEIGHT = 12;

/**
 * Bars below each other, over the hours since the sign-in. Times are minutes.
 *
 * @param {Drawing} drawing
 * @param {number} hours
 */
export function timeline(drawing, hours) {
  const { width, isNarrow } = drawing;
  const edge = isNarrow ? 14 : 24;
  const scale = (width - 2 * edge) / (hours * 60);
  const at = (/** @type {number} */ minutes) => edge + minutes * scale;
  let y = 16;
  const below = drawing.later();

  /**
   * @param {string} text
   * @returns {number} the upper edge of its bars
   */
  function lane(text) {
    y = drawing.text(text, { x: edge, y, width: width - 2 * edge, size: 12, haloed: true }) + 4;
    const top = y;
    y += HEIGHT + 14;
    return top;
  }

  /**
   * @param {number} top
   * @param {number} from
   * @param {number} to
   * @param {"full" | "faint"} [kind]
   */
  function bar(top, from, to, kind = "full") {
    drawing.bar({ x: at(from), y: top, width: (to - from) * scale, height: HEIGHT }, kind);
  }

  /** @param {readonly number[]} times */
  function requests(times) {
    const top = lane("Requests, with a break");
    for (const minute of times) {
      const x = at(minute) + 0.75;
      drawing.line(
        [
          [x, top],
          [x, top + HEIGHT],
        ],
        { accent: true },
      );
    }
  }

  /**
   * @param {readonly number[]} refreshes
   * @param {number} life
   * @param {number} [until] later times aren't shown
   */
  function tokens(refreshes, life, until = hours * 60) {
    const top = lane("ID tokens. The first request after the expiry refreshes (◆)");
    for (const from of [0, ...refreshes])
      bar(top, from + 1.5, Math.min(from + life, until) - 1.5, "faint");
    for (const minute of refreshes) drawing.diamond(at(minute), top + HEIGHT / 2, 6);
  }

  /**
   * @param {number} minute
   * @param {string} limit
   */
  function end(minute, limit) {
    const top = lane("Session: ends at the limit that's reached first");
    bar(top, 0, minute);
    const label = { x: at(minute) + 8, y: top - 3, width: 120, size: 12, bold: true };
    drawing.text(limit, label);
    const bottom = top + HEIGHT;
    below(() =>
      drawing.line(
        [
          [at(minute), 18],
          [at(minute), bottom + 6],
        ],
        { dashed: true },
      ),
    );
    for (let hour = 0; hour < hours; hour += isNarrow ? 2 : 1)
      drawing.text(hour === 0 ? "0" : `${hour} h`, {
        x: at(hour * 60),
        y: bottom + 10,
        width: 60,
        size: 11,
        soft: true,
        centered: true,
      });
  }

  return { lane, bar, requests, tokens, end, at, height: HEIGHT };
}

/**
 * @param {number} from
 * @param {number} to
 * @returns {number[]} a request every 20 minutes
 */
export function every20(from, to) {
  return Array.from({ length: Math.floor((to - from) / 20) + 1 }, (_, index) => from + 20 * index);
}
