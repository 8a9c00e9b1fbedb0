// The situations, in the order of the tables.
import { ends } from "./ends.mjs";
import { noKeys, outages } from "./outages.mjs";
import { races, slowResponse } from "./race.mjs";

/**
 * @typedef {import("../report.mjs").Outcome} Outcome
 *
 * @typedef {object} Situation
 * @property {string} key
 * @property {string} title
 * @property {string} [note] Markdown, below its table
 * @property {number} [processes] of the application; default 1
 * @property {number} [users] who are signed in, and whose tokens have expired; default 1
 * @property {(peer: import("../peer.mjs").Peer) => string | undefined} [needs] why it can't be tried
 *   with a peer
 * @property {(stage: import("../stage.mjs").Stage, browsers: readonly any[]) => Promise<Outcome>} run
 */

/** In the last two, a process ends and the provider's keys change. @type {readonly Situation[]} */
export const SITUATIONS = [...races, slowResponse, ...outages, ...ends, noKeys];
