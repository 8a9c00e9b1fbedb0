import type { Clock } from "../clock.js";
import { ProviderUnavailableError } from "../errors.js";
import type { EventHub } from "../events/event-hub.js";
import type { BackOff } from "./endpoint-back-off.js";
import type { ProviderResponse } from "./transport.js";

interface Options {
  readonly clock: Clock;
  readonly events: EventHub;
  readonly backOff: BackOff;
}

/** The userinfo or the revocation endpoint: sends requests unless its back-off blocks them, and reports its outages. */
export class BestEffortEndpoint {
  readonly #name: "userinfo" | "revocation";
  readonly #options: Options;

  constructor(name: "userinfo" | "revocation", options: Options) {
    this.#name = name;
    this.#options = options;
  }

  /** @throws ProviderUnavailableError no response, or the back-off blocks the request */
  async send(issuer: string, request: () => Promise<ProviderResponse>): Promise<ProviderResponse> {
    const { backOff, clock } = this.#options;
    backOff.assertReady();
    const startedAt = clock.monotonic();
    const failed = (reason: string, retryAfter?: string | null): number => {
      this.outage(issuer, reason, startedAt);
      return backOff.failed(startedAt, { retryAfter });
    };
    try {
      const response = await request();
      if (isServerTrouble(response)) failed(`http_${String(response.status)}`, response.headers.get("retry-after"));
      else backOff.succeeded();
      return response;
    } catch (error) {
      if (!(error instanceof ProviderUnavailableError)) throw error;
      throw new ProviderUnavailableError(error.reason, { retryAfter: failed(error.reason), cause: error.cause });
    }
  }

  /** Emits the outage of a request. @param startedAt the clock's `monotonic()` */
  outage(issuer: string, reason: string, startedAt: number): void {
    const duration = this.#options.clock.monotonic() - startedAt;
    this.#options.events.emit("outage", { issuer, side: "provider", endpoint: this.#name, reason, duration });
  }

  warn(message: string, details: Record<string, string | number>): void {
    this.#options.events.log({ level: "warn", code: "provider_unavailable", message, details: { endpoint: this.#name, ...details } });
  }
}

function isServerTrouble({ status }: ProviderResponse): boolean {
  return status >= 500 || status === 408 || status === 429;
}
