import type { Clock } from "../clock.js";

/** What a request waits for the user with: the next piece of a body, or that one is read. */
type Slow = "upload" | "download";

/** Tells that an API has been idle for too long. While a user is slow, the API isn't. */
export class IdleTimer {
  readonly #clock: Clock;
  readonly #milliseconds: number;
  readonly #expired: () => void;
  readonly #slow = { upload: false, download: false };
  /** Since when it is the API's turn. Undefined: it is the user's. */
  #since: number | undefined;
  #cancel: (() => void) | undefined;

  /** @param expired called once, unless the timer was stopped */
  constructor(clock: Clock, seconds: number, expired: () => void) {
    this.#clock = clock;
    this.#milliseconds = seconds * 1000;
    this.#expired = expired;
    this.#since = clock.monotonic();
    this.#cancel = this.#look(this.#milliseconds);
  }

  /** Something has moved: the API has its whole time again. */
  moved(side: Slow): void {
    this.#slow[side] = false;
    if (!this.#slow.upload && !this.#slow.download) this.#since = this.#clock.monotonic();
  }

  /** It is the user's turn. */
  waits(side: Slow): void {
    this.#slow[side] = true;
    this.#since = undefined;
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
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
