import type { Observable } from "../adapter.js";
import type { Events } from "../index.js";

/** The part of `idpAuth`'s result that every adapter has. */
export interface Instrumentable extends Observable {
  on<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): () => void;
}
