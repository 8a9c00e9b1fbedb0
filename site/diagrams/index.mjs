// The figures of the pages. `npm run diagrams` writes them to docs/diagrams/. A page shows one as an
// image, and says the same in words.
import { Drawing } from "./drawing.mjs";
import * as guardCost from "./guard-cost.mjs";
import * as guardedRequest from "./guarded-request.mjs";
import * as lifeOfASession from "./life-of-a-session.mjs";
import * as peersRace from "./peers-race.mjs";
import * as race from "./race.mjs";
import * as sessionTimeline from "./session-timeline.mjs";
import * as severalServices from "./several-services.mjs";
import * as signIn from "./sign-in.mjs";
import * as whereEverythingIs from "./where-everything-is.mjs";

/** Widths in CSS pixels: the site's column of text, and a phone. */
export const WIDE = 640;
export const NARROW = 342;

const FIGURES = {
  "where-everything-is": whereEverythingIs,
  "several-services": severalServices,
  "sign-in": signIn,
  "life-of-a-session": lifeOfASession,
  "session-timeline": sessionTimeline,
  "guarded-request": guardedRequest,
  "guard-cost": guardCost,
  "peers-race": peersRace,
  race,
};

/**
 * @returns {{ name: string, title: string, description: string, wide: ReturnType<typeof render>, narrow: ReturnType<typeof render> }[]}
 */
export function figures() {
  return Object.entries(FIGURES).map(([name, figure]) => ({
    name,
    title: figure.title,
    description: figure.description,
    wide: render(figure, WIDE),
    narrow: render(figure, NARROW),
  }));
}

/**
 * @param {(typeof FIGURES)[keyof typeof FIGURES]} figure
 * @param {number} width
 */
function render({ title, description, draw }, width) {
  const drawing = new Drawing(width);
  draw(drawing);
  return drawing.finish({ title, description });
}
