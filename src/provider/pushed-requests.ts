import { pushedAuthorizationRequest } from "oauth4webapi";
import type { AuthorizationParams } from "../config/parameter-kinds.js";
import { ProviderUnavailableError } from "../errors.js";
import type { AuthorizationRequest } from "../ports/provider.js";
import { entriesOf } from "./authorization-request.js";
import { createSignInBackOff } from "./back-off.js";
import type { ProviderMetadata } from "./discovery.js";
import type { ClientRequest, ProviderConnection } from "./provider-connection.js";
import { lifetime, sendGrant } from "./token-endpoint.js";

/** The most characters of a `request_uri`. Our decision. */
const LONGEST = 2_048;

/** The endpoint for pushed authorization requests (RFC 9126). */
export function createPushedRequests(connection: ProviderConnection) {
  const backOff = createSignInBackOff(connection.clock, connection.random);

  /**
   * Returns the endpoint to push a login to; undefined: the browser carries the request.
   * @throws ProviderUnavailableError there is none
   */
  function endpointOf(metadata: ProviderMetadata): string | undefined {
    const { pushedRequests } = connection.settings;
    const isRequired =
      pushedRequests === "when-required" && metadata.require_pushed_authorization_requests === true;
    if (pushedRequests !== "always" && !isRequired) return undefined;
    const { pushed_authorization_request_endpoint: endpoint } = metadata;
    if (endpoint !== undefined) return endpoint;
    const message =
      "Logins are pushed (RFC 9126), but the discovery document has no usable pushed_authorization_request_endpoint. Set it in IDP_PROVIDER_METADATA, or set IDP_PUSHED_REQUESTS to `never`.";
    throw connection.misconfigured({ endpoint: "par", reason: "par_endpoint", message });
  }

  /**
   * Returns what the provider returns, `expiresIn` in seconds.
   * @throws ProviderRefusedError the provider refuses this login
   */
  async function push(
    metadata: ProviderMetadata,
    endpoint: string,
    parameters: AuthorizationParams,
    { takeSlot }: AuthorizationRequest,
  ) {
    backOff.assertReady();
    const body = new URLSearchParams(entriesOf(parameters));
    const request: ClientRequest = (client, authentication, options) =>
      pushedAuthorizationRequest(metadata, client, authentication, body, options);
    const send = () => connection.sendAsClient(endpoint, request);
    const release = await takeSlot?.();
    try {
      const response = await sendGrant(connection, { grant: "push", send, backOff });
      connection.resolved("par");
      const { request_uri: requestUri } = response;
      if (typeof requestUri !== "string" || requestUri === "" || requestUri.length > LONGEST)
        throw new ProviderUnavailableError("par_response");
      return { requestUri, expiresIn: lifetime(response["expires_in"]) };
    } finally {
      release?.();
    }
  }

  return { endpointOf, push };
}
