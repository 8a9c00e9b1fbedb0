import { genericTokenEndpointRequest, refreshTokenGrantRequest } from "oauth4webapi";
import { ProviderUnavailableError } from "../errors.js";
import type { CodeExchange, RefreshRequest } from "../ports/provider.js";
import { createAmbiguousResponses } from "./ambiguous-responses.js";
import { createSingleRequestBackOff } from "./back-off.js";
import { sendGrant, type GrantEndpoint } from "./grant-request.js";
import type { ClientRequest, ProviderConnection } from "./provider-connection.js";
import type { ProviderMetadata } from "./provider-metadata.js";
import type { RefreshBackOff } from "./refresh-back-off.js";
import { tokensOf, type TokenResponse } from "./token-response.js";

const ENDPOINT: GrantEndpoint = { name: "token", inWords: "token endpoint" };

export interface TokenEndpoint {
  /** @throws ProviderUnavailableError `backing_off` */
  assertReadyToExchange(): void;
  /** Sends the request even during the back-off, so call `assertReadyToExchange` first. */
  exchange(
    metadata: ProviderMetadata,
    exchange: CodeExchange,
    additional: Readonly<Record<string, string>>,
  ): Promise<TokenResponse>;
  /** Sends the request even during the back-off of refreshes. */
  refresh(
    metadata: ProviderMetadata,
    refreshing: RefreshRequest,
    additional: Readonly<Record<string, string>>,
  ): Promise<TokenResponse>;
}

/** The token endpoint. A request is never repeated, since a code or a refresh token works once. */
export function createTokenEndpoint(
  connection: ProviderConnection,
  refreshes: RefreshBackOff,
): TokenEndpoint {
  const exchanges = createSingleRequestBackOff(connection.clock, connection.random);
  const ambiguities = createAmbiguousResponses(connection.clock);

  function assertReadyToExchange(): void {
    exchanges.assertReady();
    connection.assertReadyToSignIn();
  }

  async function exchange(
    metadata: ProviderMetadata,
    { code, redirectUri, verifier }: CodeExchange,
    additional: Readonly<Record<string, string>>,
  ): Promise<TokenResponse> {
    const parameters = { ...additional, code, redirect_uri: redirectUri, code_verifier: verifier };
    const request: ClientRequest = (client, authentication, options) =>
      genericTokenEndpointRequest(
        metadata,
        client,
        authentication,
        "authorization_code",
        parameters,
        options,
      );
    const send = () => connection.sendAsClient(metadata.token_endpoint, request);
    const body = await sendGrant(connection, {
      grant: "exchange",
      endpoint: ENDPOINT,
      send,
      backOff: exchanges,
    });
    ambiguities.succeeded();
    refreshes.exchanged();
    return tokensOf(body);
  }

  async function refresh(
    metadata: ProviderMetadata,
    refreshing: RefreshRequest,
    additionalParameters: Readonly<Record<string, string>>,
  ): Promise<TokenResponse> {
    const { refreshToken, signal, target } = refreshing;
    const request: ClientRequest = (client, authentication, options) =>
      refreshTokenGrantRequest(metadata, client, authentication, refreshToken, {
        ...options,
        additionalParameters,
      });
    try {
      const body = await sendGrant(connection, {
        grant: target === undefined ? "refresh" : "api",
        endpoint: ENDPOINT,
        send: () => connection.sendAsClient(metadata.token_endpoint, request, signal),
        backOff: {
          succeeded: () => {
            refreshes.responded("token");
          },
          failed: (startedAt, failure) =>
            refreshes.failed(refreshing, startedAt, { ...failure, endpoint: "token" }),
        },
        isRefusedNow: () => ambiguities.isSecond(refreshing),
      });
      ambiguities.succeeded(refreshing);
      return tokensOf(body);
    } catch (error) {
      throw error instanceof ProviderUnavailableError ? refreshes.withLogin(error) : error;
    } finally {
      refreshes.left(refreshing, "token");
    }
  }

  return { assertReadyToExchange, exchange, refresh };
}
