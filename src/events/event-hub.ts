import { failureReason, ProviderRefusedError } from "../errors.js";
import { lineOf } from "./log-lines.js";
import type { EventName, Events, Listener } from "./events.js";
import type { Log } from "../ports/log.js";
import type { Clock } from "../clock.js";

/** Where events go beside the listeners: the channels of `node:diagnostics_channel`. */
export type Publish = <Name extends EventName>(name: Name, event: Events[Name]) => void;

/** Sends typed events to listeners, and into the log what is a refusal or an outage. A listener that throws disturbs no request. */
export class EventHub {
  readonly #listeners = new Map<EventName, Set<(event: never) => unknown>>();
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #publish: Publish | undefined;

  constructor(log: Log, clock: Clock, publish?: Publish) {
    this.#log = log;
    this.#clock = clock;
    this.#publish = publish;
  }

  /** @returns a function that removes the listener again */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void {
    let listeners = this.#listeners.get(name);
    if (listeners === undefined) this.#listeners.set(name, (listeners = new Set()));
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }

  /** Sends it, dated now. */
  emit<Name extends EventName>(name: Name, what: Omit<Events[Name], "time">): void {
    // One object goes to everybody who listens.
    const event = Object.freeze({ time: this.#clock.now(), ...what }) as Events[Name];
    const line = lineOf(name, event);
    if (line !== undefined) this.#log(line);
    this.#publish?.(name, event);
    const listeners = this.#listeners.get(name);
    if (listeners === undefined) return;
    const failed = (error: unknown): void => {
      this.#log({
        level: "error",
        code: "listener_failed",
        message: `A listener of "${name}" threw ${error instanceof Error ? error.name : "a value that is no error"}.`,
      });
    };
    // Those of now: one that is added by a listener hears the next event.
    for (const listener of [...listeners]) {
      try {
        const result: unknown = (listener as Listener<Name>)(event);
        // Whatever kind of promise: `instanceof` does not know one of another realm, as those of Node itself are in Jest.
        if (result !== undefined) Promise.resolve(result).catch(failed);
      } catch (error) {
        failed(error);
      }
    }
  }

  /** Something was tried for a visitor and did not succeed. */
  failed(
    during: Events["failure"]["during"],
    error: unknown,
    about: Pick<Events["failure"], "issuer" | "subject" | "duration"> = {},
  ): void {
    this.emit("failure", { ...about, during, kind: kindOf(error), reason: failureReason(error) });
  }

  /** A request was refused for what it is, not for what anybody answered. */
  refused(during: Events["failure"]["during"], reason: string, about: Pick<Events["failure"], "issuer"> = {}): void {
    this.emit("failure", { ...about, during, kind: "refusal", reason });
  }
}

/** What nobody foresaw decides nothing about a visitor, so it counts as an outage. */
function kindOf(error: unknown): Events["failure"]["kind"] {
  return error instanceof ProviderRefusedError ? "refusal" : "outage";
}
