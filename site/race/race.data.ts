// Plays the races while the site is built, so that the page has only what the figure shows.
import { framesOf, type Frame } from "./frames.js";
import { simulate, type Kill } from "./simulate.js";

const KILLS: readonly Kill[] = ["before-request", "after-store", "before-store", "never"];

export interface Race {
  readonly kill: Kill;
  readonly frames: readonly Frame[];
}

export async function races(): Promise<Race[]> {
  const played: Race[] = [];
  for (const kill of KILLS) played.push({ kill, frames: framesOf(await simulate({ kill })) });
  return played;
}

/** VitePress's data loader. */
export default { load: races };
