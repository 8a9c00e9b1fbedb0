import { ProviderUnavailableError } from "../errors.js";
import type { EventHub } from "../events/event-hub.js";
import type { ProviderEndpoint } from "../events/events.js";
import type { LogEntry } from "../ports/log.js";

/** A cause that waiting does not remove: an operator, or the provider, has to change the set-up. */
export interface Misconfiguration {
  readonly endpoint: ProviderEndpoint | "authorization";
  /** A stable word: `issuer_mismatch`, `invalid_client`, `id_token_encrypted`, … */
  readonly reason: string;
  /** One or two sentences for the operator: the cause and the remedy. Never a secret. */
  readonly message: string;
  readonly status?: number;
}

/** Reports each misconfiguration once, until its endpoint works again. */
export class Misconfigurations {
  readonly #events: EventHub;
  readonly #reported = new Map<string, Set<string>>();

  constructor(events: EventHub) {
    this.#events = events;
  }

  /** The log line of this cause; null if the cause is already reported. */
  lineOf({ endpoint, reason, message, status }: Misconfiguration): LogEntry | null {
    const reported = this.#reported.get(endpoint) ?? new Set();
    this.#reported.set(endpoint, reported);
    if (reported.has(reason)) return null;
    reported.add(reason);
    const details = { endpoint, reason, ...(status !== undefined && { status }) };
    return { level: "error", code: "provider_misconfigured", message, details };
  }

  /** Writes the log line, if this cause has none yet. @returns the error to throw */
  report(cause: Misconfiguration): ProviderUnavailableError {
    const line = this.lineOf(cause);
    if (line !== null) this.#events.log(line);
    return new ProviderUnavailableError(cause.reason, { misconfigured: true });
  }

  /** The endpoint works: the same cause is reported again when it comes back. */
  resolved(endpoint: Misconfiguration["endpoint"]): void {
    this.#reported.delete(endpoint);
  }
}
