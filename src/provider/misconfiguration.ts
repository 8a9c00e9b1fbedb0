import { ProviderUnavailableError } from "../errors.js";
import type { ProviderEndpoint } from "../events/events.js";
import type { Log } from "../ports/log.js";

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
  readonly #log: Log;
  readonly #reported = new Map<string, Set<string>>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Writes the log line, if this cause has none yet, and gives the error to throw. */
  report({ endpoint, reason, message, status }: Misconfiguration): ProviderUnavailableError {
    const reported = this.#reported.get(endpoint) ?? new Set();
    this.#reported.set(endpoint, reported);
    if (!reported.has(reason)) {
      reported.add(reason);
      const details = { endpoint, reason, ...(status !== undefined && { status }) };
      this.#log({ level: "error", code: "provider_misconfigured", message, details });
    }
    return new ProviderUnavailableError(reason, { misconfigured: true });
  }

  /** The endpoint works: the same cause is reported again when it comes back. */
  resolved(endpoint: Misconfiguration["endpoint"]): void {
    this.#reported.delete(endpoint);
  }
}
