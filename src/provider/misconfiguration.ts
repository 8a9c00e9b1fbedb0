import { ProviderUnavailableError } from "../errors.js";
import type { EventHub } from "../events/event-hub.js";
import type { ProviderEndpoint } from "../events/events.js";
import type { LogEntry } from "../ports/log.js";

/** A wrong configuration: an operator, or the provider, must change it. */
export interface Misconfiguration {
  readonly endpoint: ProviderEndpoint | "authorization";
  /** A stable word: `issuer_mismatch`, `invalid_client`, `id_token_encrypted`, … */
  readonly reason: string;
  /** The cause and the remedy, for the operator. Never contains a secret. */
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

  /** Returns the log line of this cause; null if the cause is already reported. */
  lineOf({ endpoint, reason, message, status }: Misconfiguration): LogEntry | null {
    const reported = this.#reported.get(endpoint) ?? new Set();
    this.#reported.set(endpoint, reported);
    if (reported.has(reason)) return null;
    reported.add(reason);
    const details = { endpoint, reason, ...(status !== undefined && { status }) };
    return { level: "error", code: "provider_misconfigured", message, details };
  }

  /** Writes the log line, unless this cause has one already. @returns the error to throw */
  report(cause: Misconfiguration): ProviderUnavailableError {
    const line = this.lineOf(cause);
    if (line !== null) this.#events.log(line);
    return new ProviderUnavailableError(cause.reason, { misconfigured: true });
  }

  /** Reports that the endpoint works. A cause that returns later is reported again. */
  resolved(endpoint: Misconfiguration["endpoint"]): void {
    this.#reported.delete(endpoint);
  }
}
