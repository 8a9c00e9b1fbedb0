import { IdpAuthError } from "../errors.js";
import type { Open, Shutdown } from "../work/shutdown.js";
import type { Exchange, Watch } from "./exchange.js";

/** Nobody gets these two, and they aren't the API's failure. */
export const LEFT = Object.assign(new IdpAuthError("api_unreachable", "The browser has left."), {
  reason: "browser_left",
});
export const CUT = new IdpAuthError("shutting_down", "`auth.close()` has broken the request off.");

/**
 * Milliseconds for which a request does without a watch over its session, which costs more than the
 * rest of a short request.
 */
const UNWATCHED_MS = 500;

/**
 * Breaks a request off when the session ends or the browser leaves. Not an AbortController, which
 * costs several microseconds.
 */
export class Closing implements Open {
  /** Undefined: it is watched. An event stream keeps nothing of its request. */
  #exchange: Exchange | undefined;
  readonly #shutdown: Shutdown;
  readonly #connection: Exchange["connection"];
  #reason: IdpAuthError | undefined;
  #abort: ((reason: IdpAuthError) => void) | undefined;
  #watch: Watch | undefined;
  #isSent = false;
  #cancel: (() => void) | undefined;
  #leave: () => void;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
    this.#shutdown = exchange.shutdown;
    this.#connection = exchange.connection;
    this.#cancel = exchange.clock.timer(UNWATCHED_MS, () => {
      this.watch();
    });
    this.#leave = exchange.shutdown.add(this);
    exchange.onClose?.(() => {
      this.#breakOff(LEFT);
      this.release();
    });
  }

  /** For the shutdown: its time limit has passed. */
  destroy(): void {
    this.#breakOff(CUT);
    // Before, the browser can still get a 503.
    if (this.#isSent) this.#connection?.destroy();
  }

  /** Rejects when the request is broken off. */
  aborted(): Promise<never> {
    return new Promise((_resolve, reject) => {
      this.onAbort(reject);
    });
  }

  /** Gets a function that breaks it off. */
  onAbort(given: (reason: IdpAuthError) => void): void {
    const before = this.#abort;
    // Also what was discarded: the API may never end its response.
    this.#abort =
      before === undefined
        ? given
        : (reason) => {
            before(reason);
            given(reason);
          };
    if (this.#reason !== undefined) given(this.#reason);
  }

  /** Watches the session from now on. */
  watch(): void {
    this.#unwatch();
    if (this.#exchange === undefined) return;
    this.#watch = this.#exchange.watch((reason) => {
      this.#breakOff(reason);
    });
    this.#exchange = undefined;
  }

  /** The response is being sent. @param isLong whether it may take as long as it likes */
  sends(isLong: boolean): void {
    this.#isSent = true;
    if (isLong) this.watch();
  }

  /** Gets what ends the response in order when a shutdown begins. Without it, it is finite. */
  endsBy(end: () => void): void {
    const before = this.#leave;
    const destroy = () => {
      this.destroy();
    };
    this.#leave = this.#shutdown.add({ destroy, end });
    before();
  }

  /** Ends the watch: the request is complete. */
  release(): void {
    this.#unwatch();
    this.#watch?.close();
    this.#leave();
  }

  #unwatch(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #breakOff(reason: IdpAuthError): void {
    this.#reason ??= reason;
    this.#abort?.(this.#reason);
  }
}
