import { pushedAuthorizationRequest } from "oauth4webapi";
import type { AuthorizationParams } from "../config/parameter-kinds.js";
import type { SettingText } from "../config/setting-names.js";
import { ProviderUnavailableError } from "../errors.js";
import type { AuthorizationRequest } from "../ports/provider.js";
import { entriesOf, withParameters } from "./authorization-request.js";
import { createSingleRequestBackOff } from "./back-off.js";
import { sendGrant, type GrantEndpoint } from "./grant-request.js";
import type { ClientRequest, ProviderConnection } from "./provider-connection.js";
import type { ProviderMetadata } from "./provider-metadata.js";
import { lifetime } from "./token-response.js";

/** Of a `request_uri`. Our decision. */
const MAX_REQUEST_URI_LENGTH = 2_048;

const ENDPOINT: GrantEndpoint = {
  name: "par",
  inWords: "endpoint for pushed authorization requests",
};

/** The address of a pushed request. */
interface PushedAddress {
  readonly url: string;
  /** Seconds for which the address works. */
  readonly expiresIn: number | undefined;
}

/** The endpoint for pushed authorization requests (RFC 9126). */
export interface PushedRequests {
  /**
   * Returns the endpoint to push a login to; undefined: the browser carries the request.
   * @throws ProviderUnavailableError there is none
   */
  endpointOf(metadata: ProviderMetadata): string | undefined;
  /**
   * Pushes a login. Only `client_id` and the reference stay in the browser's address.
   * @throws ProviderRefusedError the provider refuses this login
   */
  push(metadata: ProviderMetadata, login: PushedLogin): Promise<PushedAddress>;
}

export interface PushedLogin {
  readonly endpoint: string;
  /** Returns what the body contains besides the client's authentication. */
  readonly parameters: () => Promise<AuthorizationParams>;
  readonly request: AuthorizationRequest;
}

export function createPushedRequests(connection: ProviderConnection): PushedRequests {
  const { settings } = connection;
  const backOff = createSingleRequestBackOff(connection.clock, connection.random);

  function endpointOf(metadata: ProviderMetadata): string | undefined {
    const { pushedRequests } = settings;
    const isRequired = metadata.require_pushed_authorization_requests === true;
    if (pushedRequests !== "always" && !isRequired) return undefined;
    const { pushed_authorization_request_endpoint: endpoint } = metadata;
    if (endpoint !== undefined) return endpoint;
    const message: SettingText = ({ env }) =>
      `Logins are pushed (RFC 9126), but the discovery document has no usable pushed_authorization_request_endpoint. Set it in ${env("providerMetadata")}, or remove ${env("pushedRequests")}, unless the provider requires it.`;
    throw connection.misconfigured({ endpoint: "par", reason: "par_endpoint", message });
  }

  async function push(
    metadata: ProviderMetadata,
    { endpoint, parameters, request: { takeSlot } }: PushedLogin,
  ): Promise<PushedAddress> {
    backOff.assertReady();
    connection.assertReadyToSignIn();
    const release = await takeSlot?.();
    try {
      const body = new URLSearchParams(entriesOf(await parameters()));
      const request: ClientRequest = (client, authentication, options) =>
        pushedAuthorizationRequest(metadata, client, authentication, body, options);
      const send = () => connection.sendAsClient(endpoint, request);
      const response = await sendGrant(connection, {
        grant: "push",
        endpoint: ENDPOINT,
        send,
        backOff,
      });
      connection.resolved("par");
      const uri = requestUriOf(response);
      const left = { client_id: settings.clientId, request_uri: uri };
      return {
        url: withParameters(metadata.authorization_endpoint, left).href,
        expiresIn: lifetime(response["expires_in"]),
      };
    } finally {
      release?.();
    }
  }

  return { endpointOf, push };
}

/** @throws ProviderUnavailableError it is unusable */
function requestUriOf({ request_uri: uri }: Readonly<Record<string, unknown>>): string {
  if (typeof uri !== "string" || uri === "" || uri.length > MAX_REQUEST_URI_LENGTH)
    throw new ProviderUnavailableError("par_response");
  return uri;
}
