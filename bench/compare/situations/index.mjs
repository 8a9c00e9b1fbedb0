// The situations, in the order of the page.
import { ends } from "./ends.mjs";
import { outages } from "./outages.mjs";
import { races } from "./race.mjs";

/**
 * @typedef {object} Outcome
 * @property {string} requests what the requests got
 * @property {number} refreshes how many token requests were sent for a refresh
 * @property {string} after what holds for the user afterwards
 * @property {number} [succeeded] of a race
 * @property {boolean} isGood whether it went as a user would wish
 *
 * @typedef {object} Situation
 * @property {string} key
 * @property {string} title
 * @property {number} [processes] of the application; default 1
 * @property {boolean} [isSignedIn] whether a user is signed in and the tokens have expired; default
 *   true
 * @property {(peer: import("../peer.mjs").Peer) => string | undefined} [needs] why it can't be tried
 *   with a peer
 * @property {(stage: import("../stage.mjs").Stage, browsers: readonly any[]) => Promise<Outcome>} run
 */

/** A process ends in the last one. @type {readonly Situation[]} */
export const SITUATIONS = [...races, ...outages, ...ends];
