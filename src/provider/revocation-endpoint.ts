import type { Clock } from "../clock.js";
import { ProviderUnavailableError } from "../errors.js";
import type { BestEffortEndpoint } from "./best-effort-endpoint.js";
import type { ClientRequests } from "./client-requests.js";
import type { Discovery } from "./discovery.js";
import { errorCode } from "./token-responses.js";
import { withDeadline } from "./transport.js";

interface Options {
  readonly endpoint: BestEffortEndpoint;
  readonly requests: ClientRequests;
  readonly discovery: Discovery;
  readonly clock: Clock;
  /** Seconds for discovery and request together. */
  readonly timeout: number;
}

/** The revocation endpoint (RFC 7009). */
export class RevocationEndpoint {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Resolves to false if the token could not be revoked. Never rejects. */
  async revoke(token: string, hint: "refresh_token" | "access_token"): Promise<boolean> {
    const { clock, timeout, endpoint } = this.#options;
    try {
      return await withDeadline(clock, timeout, (signal) => this.#send(token, hint, signal));
    } catch (error) {
      const reason = error instanceof ProviderUnavailableError ? error.reason : "unexpected";
      endpoint.warn("A token could not be revoked.", { reason });
      return false;
    }
  }

  async #send(token: string, hint: string, signal: AbortSignal): Promise<boolean> {
    const { discovery, endpoint, requests } = this.#options;
    const metadata = await discovery.current(signal);
    if (metadata.revocation_endpoint === undefined) return false;
    const response = await endpoint.send(metadata.issuer, () => requests.revoke(metadata, token, hint, signal));
    if (response.status === 200) return true;
    const error = errorCode(response);
    endpoint.warn("A token could not be revoked.", { status: response.status, ...(error !== undefined && { error }) });
    return false;
  }
}
