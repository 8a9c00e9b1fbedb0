import type { Clock } from "../clock.js";
import { failureReason, ProviderRefusedError } from "../errors.js";
import type { Log, LogEntry } from "../ports/log.js";
import { EVENT_CHANNELS, LOG_CHANNEL } from "./diagnostics-channels.js";
import type { EventName, Events, Listener } from "./events.js";
import { lineOf, logLine } from "./log-lines.js";

/** Sends each event to the log, to the diagnostics channel and to the listeners. No log or listener that throws disturbs a request. */
export class EventHub {
  readonly #listeners = new Map<EventName, Set<(event: never) => unknown>>();
  readonly #log: Log;
  readonly #clock: Clock;

  constructor(log: Log, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Adds a listener. @returns a function that removes it */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void {
    let listeners = this.#listeners.get(name);
    if (listeners === undefined) this.#listeners.set(name, (listeners = new Set()));
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }

  /**
   * Emits an event, with the current time.
   *
   * @param line the log line; default the one of the table in log-lines.ts. Null: no line
   */
  emit<Name extends EventName>(name: Name, what: Omit<Events[Name], "time">, line?: LogEntry | null): void {
    // All listeners get the same object.
    const event = Object.freeze({ time: this.#clock.now(), ...what }) as Events[Name];
    const entry = line === undefined ? lineOf(name, event) : line;
    if (entry) this.log(entry);
    const channel = EVENT_CHANNELS[name];
    if (channel.hasSubscribers) channel.publish(event);
    const listeners = this.#listeners.get(name);
    if (listeners === undefined) return;
    const failed = (error: unknown): void => {
      const thrown = error instanceof Error ? error.name : "a value that is not an error";
      this.log(logLine("listener_failed", `A listener of "${name}" threw ${thrown}.`));
    };
    // A copy: a listener that another listener adds gets only later events.
    for (const listener of [...listeners]) settle(() => (listener as Listener<Name>)(event), failed);
  }

  /** Writes a log line that belongs to no event. */
  log(entry: LogEntry): void {
    if (LOG_CHANNEL.hasSubscribers) LOG_CHANNEL.publish(entry);
    settle(() => this.#log(entry), ignore);
  }

  /** Emits the failure of an operation that threw. An unexpected error decides nothing about a user, so it counts as an outage. */
  failed(
    during: Events["failure"]["during"],
    error: unknown,
    about: Pick<Events["failure"], "issuer" | "subject" | "duration"> = {},
  ): void {
    const kind = error instanceof ProviderRefusedError ? "refusal" : "outage";
    this.emit("failure", { ...about, during, kind, reason: failureReason(error) });
  }

  /** Emits the failure of a request that idpauth itself refused. */
  refused(during: Events["failure"]["during"], reason: string, about: Pick<Events["failure"], "issuer"> = {}): void {
    this.emit("failure", { ...about, during, kind: "refusal", reason });
  }
}

/** Calls a function of the application, which may be async. */
function settle(call: () => unknown, failed: (error: unknown) => void): void {
  try {
    const result = call();
    // `instanceof Promise` does not know promises of another realm, such as Node's own in Jest.
    if (result !== undefined) Promise.resolve(result).catch(failed);
  } catch (error) {
    failed(error);
  }
}

function ignore(): void {
  // A log that fails leaves no place to report it.
}
