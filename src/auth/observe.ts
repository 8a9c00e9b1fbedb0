import type { Observer } from "../ports/observer.js";

/**
 * The name of the method that has a component's operations watched. `instrument` of
 * `idpauth/opentelemetry` calls it. It is registered, so that several copies of this package share
 * it.
 */
export const OBSERVE: unique symbol = Symbol.for("idpauth.observe");

/** A component that is being watched. */
export interface Observed {
  /**
   * The keyed hash that stands for a user.
   * @param provider the key of the user's provider, if it has one
   * @throws ConfigurationError
   */
  userHash(issuer: string, subject: string, provider: string | undefined): string;
  /** Stops watching. */
  stop(): void;
}

/** What can be watched: the `auth` object. */
export interface Observable {
  /**
   * Has an observer watch the operations.
   * @throws TypeError another one does
   */
  [OBSERVE](observer: Observer): Observed;
}
