import { revocationRequest } from "oauth4webapi";
import { ProviderUnavailableError } from "../errors.js";
import type { BackOff } from "./back-off.js";
import type { Discovery } from "./discovery.js";
import { errorCode, withDeadline, type ClientRequest, type ProviderConnection } from "./provider-connection.js";

/** The revocation endpoint (RFC 7009). */
export class RevocationEndpoint {
  readonly #connection: ProviderConnection;
  readonly #discovery: Discovery;
  readonly #backOff: BackOff;

  constructor(connection: ProviderConnection, discovery: Discovery) {
    this.#connection = connection;
    this.#discovery = discovery;
    this.#backOff = connection.backOff();
  }

  /** Discovery and request together get the configured timeout. Resolves to false if the token could not be revoked. Never rejects. */
  async revoke(token: string, hint: "refresh_token" | "access_token"): Promise<boolean> {
    const { clock, settings } = this.#connection;
    try {
      return await withDeadline(clock, settings.httpTimeout, (signal) => this.#send(token, hint, signal));
    } catch (error) {
      return this.#failed({ reason: error instanceof ProviderUnavailableError ? error.reason : "unexpected" });
    }
  }

  async #send(token: string, hint: string, signal: AbortSignal): Promise<boolean> {
    const metadata = await this.#discovery.current(signal);
    const { revocation_endpoint: endpoint } = metadata;
    if (endpoint === undefined) return false;
    const request: ClientRequest = (client, authentication, options) =>
      revocationRequest(metadata, client, authentication, token, { ...options, additionalParameters: { token_type_hint: hint } });
    const send = () => this.#connection.sendAsClient(endpoint, request, signal);
    const response = await this.#connection.callBestEffort("revocation", this.#backOff, send);
    if (response.status === 200) return true;
    const error = errorCode(response);
    return this.#failed({ status: response.status, ...(error !== undefined && { error }) });
  }

  #failed(details: Record<string, string | number>): false {
    this.#connection.warn("revocation", "A token couldn't be revoked.", details);
    return false;
  }
}
