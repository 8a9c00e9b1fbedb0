import type { Observable } from "../adapter.js";
import type { Events } from "../index.js";

/** The part of `idpAuth`'s result that every adapter has. */
export interface Instrumentable extends Observable {
  /** Adds a listener of an event. @returns a function that removes it */
  on<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): () => void;
}
