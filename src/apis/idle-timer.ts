import type { Clock } from "../clock.js";

/** Tells that it has been somebody's turn for too long. */
export class IdleTimer {
  readonly #clock: Clock;
  readonly #milliseconds: number;
  readonly #expired: () => void;
  /** Undefined: it is another's turn. */
  #since: number | undefined;
  #cancel: () => void;

  /** @param expired called once, unless the timer was stopped */
  constructor(clock: Clock, seconds: number, expired: () => void) {
    this.#clock = clock;
    this.#milliseconds = seconds * 1000;
    this.#expired = expired;
    this.#since = clock.monotonic();
    this.#cancel = this.#look(this.#milliseconds);
  }

  /** It is its turn from now on. */
  start(): void {
    this.#since = this.#clock.monotonic();
  }

  /** It isn't its turn. */
  pause(): void {
    this.#since = undefined;
  }

  stop(): void {
    this.#cancel();
  }

  #look(milliseconds: number): () => void {
    return this.#clock.timer(milliseconds, () => {
      const now = this.#clock.monotonic();
      const left = this.#milliseconds - (now - (this.#since ?? now));
      if (left > 0) this.#cancel = this.#look(left);
      else this.#expired();
    });
  }
}
