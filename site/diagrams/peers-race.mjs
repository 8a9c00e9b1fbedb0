import { chartText, raceOf } from "../../bench/compare/report.mjs";
import { readPeers } from "../../bench/compare/results.mjs";

/** @typedef {import("./drawing.mjs").Drawing} Drawing */

const COUNT = 200;

const results = readPeers();

export const title = `${COUNT} requests at once, after the access token has expired`;
export const description = chartText(results);

/** @param {Drawing} drawing */
export function draw(drawing) {
  const { width, isNarrow } = drawing;
  const edge = isNarrow ? 12 : 24;
  const left = edge + (isNarrow ? 0 : 184);
  const room = width - edge - left;
  const whole = { x: edge, width: width - 2 * edge };
  let y = drawing.text(title, { ...whole, y: 16, size: 14, bold: true }) + 2;
  y =
    drawing.text(
      "The provider rotates refresh tokens and detects reuse. The bar shows how many requests succeed, in the worst of three runs.",
      { ...whole, y, soft: true },
    ) + 12;
  for (const race of raceOf(results.peers, `race-${COUNT}`)) {
    const bottom = drawing.text(race.title, {
      x: edge,
      y: y + 2,
      width: isNarrow ? whole.width : 180,
      bold: true,
    });
    if (isNarrow) y = bottom + 2;
    drawing.bar({ x: left, y, width: room, height: 20 }, "empty");
    if (race.succeeded > 0)
      drawing.bar({ x: left, y, width: (room * race.succeeded) / COUNT, height: 20 }, "full");
    const requests = `${race.most} token ${race.most === 1 ? "request" : "requests"}`;
    const signedIn = race.isSignedIn ? "still signed in" : "has to sign in again";
    y =
      drawing.text(`${race.succeeded} of ${COUNT} succeed, ${requests}, ${signedIn}`, {
        x: left,
        y: y + 22,
        width: room,
        soft: true,
      }) + 12;
  }
}
