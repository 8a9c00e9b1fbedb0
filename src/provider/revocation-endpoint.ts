import { revocationRequest } from "oauth4webapi";
import { ProviderUnavailableError } from "../errors.js";
import type { LogDetails } from "../events/log.js";
import { withoutUndefined } from "../record/without-undefined.js";
import { createSingleRequestBackOff } from "./back-off.js";
import type { Discovery } from "./discovery.js";
import { errorCode, withDeadline } from "./http-to-provider.js";
import type { ClientRequest, ProviderConnection } from "./provider-connection.js";

/** The revocation endpoint (RFC 7009). */
export interface RevocationEndpoint {
  /**
   * Discovery and request together get the configured timeout. Resolves to false if the token could
   * not be revoked. Never rejects.
   */
  revoke(token: string, hint: "refresh_token" | "access_token"): Promise<boolean>;
}

export function createRevocationEndpoint(
  connection: ProviderConnection,
  discovery: Discovery,
): RevocationEndpoint {
  /** A provider may answer 500 for one user's token, which must not keep others' from it. */
  const backOff = createSingleRequestBackOff(connection.clock, connection.random);

  async function revoke(token: string, hint: "refresh_token" | "access_token"): Promise<boolean> {
    const { clock, settings } = connection;
    try {
      return await withDeadline(clock, settings.httpTimeout, (signal) =>
        request(token, hint, signal),
      );
    } catch (error) {
      return failed({
        reason: error instanceof ProviderUnavailableError ? error.reason : "unexpected",
      });
    }
  }

  async function request(token: string, hint: string, signal: AbortSignal): Promise<boolean> {
    const metadata = await discovery.current(signal);
    const { revocation_endpoint: endpoint } = metadata;
    if (endpoint === undefined) return false;
    const build: ClientRequest = (client, authentication, options) =>
      revocationRequest(metadata, client, authentication, token, {
        ...options,
        additionalParameters: { token_type_hint: hint },
      });
    const send = () => connection.sendAsClient(endpoint, build, { signal });
    const response = await connection.callBestEffort("revocation", backOff, send);
    if (response.status === 200) return true;
    return failed(withoutUndefined({ status: response.status, error: errorCode(response) }));
  }

  function failed(details: LogDetails): false {
    connection.warn("revocation", "A token couldn't be revoked.", details);
    return false;
  }

  return { revoke };
}
