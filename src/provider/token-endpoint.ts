import { genericTokenEndpointRequest, refreshTokenGrantRequest } from "oauth4webapi";
import { ProviderUnavailableError } from "../errors.js";
import type { CodeExchange, RefreshRequest } from "../ports/provider.js";
import type { DpopBinding } from "../record/dpop.js";
import { createAmbiguousResponses } from "./ambiguous-responses.js";
import { createSingleRequestBackOff } from "./back-off.js";
import { sendGrant, type GrantEndpoint } from "./grant-request.js";
import type { ClientRequest, ClientResponse, ProviderConnection } from "./provider-connection.js";
import type { ProviderMetadata } from "./provider-metadata.js";
import type { RefreshBackOff } from "./refresh-back-off.js";
import { tokensOf, type TokenResponse, type TokenType } from "./token-response.js";

const ENDPOINT: GrantEndpoint = { name: "token", inWords: "token endpoint" };

/** A token response, and what its request was proven with. */
export interface ProvenTokens extends TokenResponse {
  /** Undefined: with nothing. */
  readonly dpop: DpopBinding | undefined;
}

export interface TokenEndpoint {
  /** @throws ProviderUnavailableError `backing_off` */
  assertReadyToExchange(): void;
  /** Sends the request even during the back-off, so call `assertReadyToExchange` first. */
  exchange(
    metadata: ProviderMetadata,
    exchange: CodeExchange,
    additional: Readonly<Record<string, string>>,
  ): Promise<ProvenTokens>;
  /** Sends the request even during the back-off of refreshes. */
  refresh(
    metadata: ProviderMetadata,
    refreshing: RefreshRequest,
    additional: Readonly<Record<string, string>>,
  ): Promise<ProvenTokens>;
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
    { code, redirectUri, verifier, dpopKey }: CodeExchange,
    additional: Readonly<Record<string, string>>,
  ): Promise<ProvenTokens> {
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
    const dpop = dpopKey && { key: dpopKey };
    let response: ClientResponse | undefined;
    const body = await sendGrant(connection, {
      grant: "exchange",
      endpoint: ENDPOINT,
      send: async () =>
        (response = await connection.sendAsClient(metadata.token_endpoint, request, { dpop })),
      backOff: exchanges,
    });
    ambiguities.succeeded();
    refreshes.exchanged();
    return provenTokens(body, response);
  }

  async function refresh(
    metadata: ProviderMetadata,
    refreshing: RefreshRequest,
    additionalParameters: Readonly<Record<string, string>>,
  ): Promise<ProvenTokens> {
    const { refreshToken, signal, target, dpop } = refreshing;
    const request: ClientRequest = (client, authentication, options) =>
      refreshTokenGrantRequest(metadata, client, authentication, refreshToken, {
        ...options,
        additionalParameters,
      });
    let response: ClientResponse | undefined;
    try {
      const body = await sendGrant(connection, {
        grant: target === undefined ? "refresh" : "api",
        endpoint: ENDPOINT,
        send: async () =>
          (response = await connection.sendAsClient(metadata.token_endpoint, request, {
            signal,
            dpop,
          })),
        backOff: {
          succeeded: () => {
            refreshes.responded("token");
          },
          failed: (startedAt, failure) =>
            refreshes.failed(refreshing, startedAt, { ...failure, endpoint: "token" }),
        },
        isRefusedNow: (isSpent) => ambiguities.isSecond(refreshing, !isSpent),
      });
      ambiguities.succeeded(refreshing);
      return provenTokens(body, response);
    } catch (error) {
      throw error instanceof ProviderUnavailableError ? refreshes.withLogin(error) : error;
    } finally {
      refreshes.left(refreshing, "token");
    }
  }

  /**
   * A token that isn't bound would be worth as much to a thief as to the session, so it isn't
   * accepted in place of a bound one.
   */
  function provenTokens(
    body: Readonly<Record<string, unknown>>,
    response: ClientResponse | undefined,
  ): ProvenTokens {
    const { dpop } = response ?? {};
    const asked: readonly TokenType[] = connection.settings.dpop ? ["dpop"] : ["dpop", "bearer"];
    return { ...tokensOf(body, dpop === undefined ? ["bearer"] : asked), dpop };
  }

  return { assertReadyToExchange, exchange, refresh };
}
