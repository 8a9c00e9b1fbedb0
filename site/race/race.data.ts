// Plays the races while the site is built, so that the page has only what the figure shows.
import { framesOf, type Frame } from "./frames.js";
import { simulate, type RaceOptions } from "./simulate.js";

/** Seconds. */
const OUTAGE = 10;

const RACES = {
  won: { kill: "never" },
  "before-request": { kill: "before-request" },
  "after-store": { kill: "after-store" },
  "before-store": { kill: "before-store" },
  outage: { kill: "never", outage: OUTAGE },
} as const satisfies Record<string, RaceOptions>;

export interface Race {
  readonly name: keyof typeof RACES;
  readonly frames: readonly Frame[];
}

export async function races(): Promise<Race[]> {
  const played: Race[] = [];
  for (const [name, options] of Object.entries(RACES))
    played.push({ name: name as Race["name"], frames: framesOf(await simulate(options)) });
  return played;
}

/** VitePress's data loader. */
export default { load: races };
