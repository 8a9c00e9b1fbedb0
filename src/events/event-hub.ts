import { channel, hasSubscribers } from "node:diagnostics_channel";
import type { Clock } from "../clock.js";
import { failureReason, ProviderRefusedError } from "../errors.js";
import type { Observer, Operation, Operations, Work } from "../ports/observer.js";
import type { IdInfo } from "../record/identity.js";
import { withoutUndefined } from "../record/without-undefined.js";
import { callWithoutWaiting } from "./call-without-waiting.js";
import type { EventName, Events, Listener } from "./events.js";
import { failureLine, functionThrew, logLine, outageLine, reasonLine } from "./log-lines.js";
import type { Log, LogEntry } from "./log.js";

/** Lines of `logOnce` that are remembered. */
const MAX_REMEMBERED_LINES = 100;

/** What an event is about, as far as it is known. */
type Optional<About> = { readonly [Name in keyof About]: About[Name] | undefined };

/** What the parts of one provider report with. */
export type ProviderEvents = Pick<EventHub, "emit" | "log" | "logOnce" | "run">;

/**
 * Sends each event to the log, to the diagnostics channel and to the listeners. No log or listener
 * that throws disturbs a request. It also runs the operations that an observer can watch.
 */
export class EventHub implements Operations {
  observer: Observer | undefined;
  readonly #listeners = new Map<EventName, Set<(event: never) => unknown>>();
  readonly #log: Log;
  readonly #clock: Clock;
  /** The lines of `logOnce`. */
  readonly #written = new Set<string>();

  constructor(log: Log, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** The hub for one of several providers: its events and log lines name the provider. */
  ofProvider(key: string | undefined): ProviderEvents {
    if (key === undefined) return this;
    return {
      emit: (name, what, line) => this.emit(name, { provider: key, ...what }, line),
      log: (entry) => this.log(entry, key),
      logOnce: (entry) => this.logOnce(entry, key),
      run: (operation, work) => this.run({ ...operation, provider: key }, work),
    };
  }

  run<Result>(operation: Operation, work: Work<Result>): Promise<Result> {
    return this.observer === undefined ? work() : this.observer.observe(operation, work);
  }

  #named(entry: LogEntry, provider: string | undefined): LogEntry {
    if (provider === undefined) return entry;
    return {
      ...entry,
      message: `Provider ${provider}: ${entry.message}`,
      details: { provider, ...entry.details },
    };
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
  emit<Name extends EventName>(
    name: Name,
    what: Omit<Events[Name], "time">,
    line?: LogEntry | null,
  ): void {
    // All listeners get the same object.
    const event = Object.freeze({ time: this.#clock.now(), ...what }) as Events[Name];
    const entry = line === undefined ? lineOf(name, event) : line;
    if (entry) this.log(entry, event.provider);
    publish(name, event);
    const listeners = this.#listeners.get(name);
    if (listeners === undefined) return;
    const failed = (error: unknown): void => {
      this.log(functionThrew(`on("${name}")`, error));
    };
    // A copy: a listener that another listener adds gets only later events.
    for (const listener of [...listeners])
      callWithoutWaiting(() => (listener as Listener<Name>)(event), failed);
  }

  /** Writes a log line that belongs to no event. @param provider the key of the provider */
  log(entry: LogEntry, provider?: string): void {
    const line = this.#named(entry, provider);
    publish("log", line);
    // A log that fails leaves no place to report it.
    callWithoutWaiting(() => this.#log(line));
  }

  /** Writes a log line, unless the same line was written before. @param provider as above */
  logOnce(entry: LogEntry, provider?: string): void {
    const line = `${entry.code} ${provider ?? ""} ${entry.message}`;
    if (this.#written.has(line)) return;
    // A message can contain a stranger's Host header. It must not make other lines repeat.
    if (this.#written.size >= MAX_REMEMBERED_LINES)
      for (const other of this.#written)
        if (other.startsWith(`${entry.code} ${provider ?? ""} `)) this.#written.delete(other);
    this.#written.add(line);
    this.log(entry, provider);
  }

  /**
   * Emits the failure of an operation that threw. An unexpected error decides nothing about a user,
   * so it counts as an outage.
   */
  failed(
    during: Events["failure"]["during"],
    error: unknown,
    about: Optional<Pick<Events["failure"], "provider" | "issuer" | "subject" | "duration">> = {},
  ): void {
    const kind = error instanceof ProviderRefusedError ? "refusal" : "outage";
    const reason = failureReason(error);
    const cause = reason === "certificate" ? driverCode(error) : undefined;
    this.emit("failure", { ...withoutUndefined({ ...about, cause }), during, kind, reason });
  }

  /** Emits the failure of a request that idpauth itself refused. */
  refused(
    during: Events["failure"]["during"],
    reason: string,
    about: Optional<Pick<Events["failure"], "provider" | "issuer" | "api">> = {},
  ): void {
    this.emit("failure", { ...withoutUndefined(about), during, kind: "refusal", reason });
  }
}

/**
 * The log line of an event; undefined if the event is neither a refusal nor an outage, or if
 * another line reports it.
 */
function lineOf<Name extends EventName>(name: Name, event: Events[Name]): LogEntry | undefined {
  if (name === "blocked") return reasonLine("blocked", (event as Events["blocked"]).reason);
  // Other ends are decisions of the user or of the policy. This one may be a mistake in the settings.
  if (name === "ended")
    return (event as Events["ended"]).reason === "provider_removed"
      ? logLine("provider_removed")
      : undefined;
  if (name === "failure") return failureLine(event as Events["failure"]);
  return name === "outage" ? outageLine(event as Events["outage"]) : undefined;
}

/**
 * Publishes an event or a log line (also with `log: false`) for tools that do not have the `auth`
 * object; every idpauth in this process publishes on the same channels. Node raises what a
 * subscriber throws as an uncaught exception in a later tick. A listener's error is only logged.
 */
function publish(name: EventName | "log", message: unknown): void {
  const channelName = `idpauth:${name}`;
  if (hasSubscribers(channelName)) channel(channelName).publish(message);
}

/** Whom an event is about. */
export type EventIdentity = Pick<Events["login"], "provider" | "issuer" | "subject">;

/**
 * Issuer and subject of an identity, as events carry them.
 * @param provider the key of its provider
 */
export function identityOf(idInfo: IdInfo | undefined, provider?: string): EventIdentity {
  const text = (claim: unknown) => (typeof claim === "string" ? claim : undefined);
  return withoutUndefined({ provider, issuer: text(idInfo?.iss), subject: text(idInfo?.sub) });
}

/**
 * The code of a store driver's error, such as `ECONNREFUSED` or PostgreSQL's `57P01`; `rejected` if
 * there is none. Never the error's message, which may contain a secret.
 */
export function driverCode(error: unknown): string {
  for (let at = error, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth += 1) {
    const { code } = at as { readonly code?: unknown };
    if (typeof code === "string" && /^[A-Z0-9_]{2,40}$/.test(code)) return code;
  }
  return "rejected";
}
