import { SETTLED } from "../adapter.js";

/** The part of `idpAuth`'s result that every adapter has. */
export interface Settles {
  /** Resolves when no refresh and no revocation is running. */
  [SETTLED](): Promise<void>;
}

/**
 * Resolves when the application's refreshes and revocations have ended, those of disconnected users
 * included. Runs at once what waits for browsers to come back from the provider's logout. Call it
 * before you advance a clock, or look at what they have changed.
 *
 * @example
 * await fetch(url);
 * await settled(auth);
 * // Now the refresh that the request began has ended.
 */
export function settled(auth: Settles): Promise<void> {
  return auth[SETTLED]();
}
