import { genericTokenEndpointRequest, refreshTokenGrantRequest } from "oauth4webapi";
import type { EpochSeconds } from "../clock.js";
import { ProviderRefusedError, ProviderUnavailableError } from "../errors.js";
import type { CodeExchange, RefreshRequest } from "../ports/provider.js";
import {
  asksForRetry,
  createSignInBackOff,
  type Failure,
  type FailureListener,
  type RefreshBackOff,
} from "./back-off.js";
import { authenticationInWords, credentialsInWords } from "./client-authentication.js";
import type { ProviderMetadata } from "./discovery.js";
import {
  errorCode,
  jsonObject,
  type ClientRequest,
  type ProviderConnection,
  type ProviderResponse,
} from "./provider-connection.js";

/** The token endpoint. A request is never repeated, since a code or a refresh token works once. */
export function createTokenEndpoint(connection: ProviderConnection, refreshes: RefreshBackOff) {
  const exchanges = createSignInBackOff(connection.clock, connection.random);

  /** @throws ProviderUnavailableError `backing_off` */
  function assertReadyToExchange(): void {
    exchanges.assertReady();
  }

  /** Sends the request even during the back-off, so call `assertReadyToExchange` first. */
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
    return tokens(
      "exchange",
      () => connection.sendAsClient(metadata.token_endpoint, request),
      exchanges,
    );
  }

  /** Sends the request even during the back-off of refreshes. */
  async function refresh(
    metadata: ProviderMetadata,
    { refreshToken, session, signal, target }: RefreshRequest,
    additionalParameters: Readonly<Record<string, string>>,
  ): Promise<TokenResponse> {
    const request: ClientRequest = (client, authentication, options) =>
      refreshTokenGrantRequest(metadata, client, authentication, refreshToken, {
        ...options,
        additionalParameters,
      });
    return tokens(
      target === undefined ? "refresh" : "api",
      () => connection.sendAsClient(metadata.token_endpoint, request, signal),
      {
        succeeded: () => refreshes.responded(),
        failed: (startedAt, failure) => refreshes.failed(session, startedAt, failure),
      },
    );
  }

  async function tokens(
    grant: Grant,
    send: () => Promise<ProviderResponse>,
    backOff: FailureListener,
  ): Promise<TokenResponse> {
    return tokensOf(await sendGrant(connection, grant, send, backOff));
  }

  return { assertReadyToExchange, exchange, refresh };
}

/**
 * Sends a request with the client's credentials, and returns the body of a success.
 *
 * @throws ProviderRefusedError | ProviderUnavailableError
 */
export async function sendGrant(
  connection: ProviderConnection,
  grant: Grant,
  send: () => Promise<ProviderResponse>,
  backOff: FailureListener,
): Promise<Readonly<Record<string, unknown>>> {
  const endpoint = grant === "push" ? "par" : "token";
  const meaning = await connection.call({
    endpoint,
    send,
    read: (response) => {
      const read = meaningOf(response, grant);
      if (read.kind === "operator")
        throw new ProviderUnavailableError(read.reason, { misconfigured: true });
      if (read.kind === "outage") throw new ProviderUnavailableError(read.reason);
      return read;
    },
    backOff: {
      succeeded: backOff.succeeded,
      failed: (startedAt, failure) => {
        if (failure.misconfigured === true) reportMistake(connection, endpoint, failure);
        return backOff.failed(startedAt, failure);
      },
    },
  });
  if (meaning.kind === "refused") throw new ProviderRefusedError(meaning.reason);
  return meaning.body;
}

function reportMistake(
  connection: ProviderConnection,
  endpoint: "token" | "par",
  { reason, status }: Failure,
): void {
  const sent = `The client authenticated with ${authenticationInWords(connection.settings)}.`;
  const where =
    endpoint === "token" ? "token endpoint" : "endpoint for pushed authorization requests";
  const message =
    reason === "invalid_client"
      ? `The ${where} doesn't accept this client (invalid_client). ${sent} Check ${credentialsInWords(connection.settings)}.`
      : `The ${where} doesn't allow this client to refresh (${reason}, status ${String(status)}). ${sent} Check the client's settings at the provider.`;
  connection.misconfigured({ endpoint, reason, message, status });
}

/** The meaning of the token endpoint's response. `reason` is a stable word that is safe to log. */
export type Meaning =
  | { readonly kind: "ok"; readonly body: Readonly<Record<string, unknown>> }
  /** The code or refresh token is refused definitely. */
  | { readonly kind: "refused"; readonly reason: string }
  /** The client's configuration is wrong, independent of this token. */
  | { readonly kind: "operator"; readonly reason: string }
  | { readonly kind: "outage"; readonly reason: string };

/** A request with the client's credentials: of tokens, or a pushed authorization request. */
export type Grant = "exchange" | "refresh" | "api" | "push";

/**
 * The errors of RFC 6749 section 5.2 and RFC 8707 section 2 about the client, not about the refresh
 * token.
 */
const OPERATOR_ERRORS = new Set([
  "invalid_client",
  "unauthorized_client",
  "unsupported_grant_type",
  "invalid_scope",
  "invalid_target",
]);

/**
 * Returns the meaning of a response. The ID token is verified later. Pure.
 *
 * An attacker can put any code, or any parameter of a login, into a URL. So in the response to one
 * of these, only `invalid_client` means a wrong configuration. The same for an API: what its
 * provider refuses must not delay the sessions.
 */
export function meaningOf(response: ProviderResponse, grant: Grant): Meaning {
  const { status } = response;
  // 201 for a pushed request (RFC 9126 section 2.2).
  if (status === 200 || (status === 201 && grant === "push")) {
    const body = jsonObject(response);
    return body === undefined ? { kind: "outage", reason: "not_json" } : { kind: "ok", body };
  }
  if (status >= 300 && status < 400) return { kind: "outage", reason: "redirect" };
  if (status < 400 || status >= 500) return { kind: "outage", reason: `http_${String(status)}` };
  const error = errorCode(response);
  // With any 4xx: Auth0 sends it with 403.
  if (error === "invalid_grant")
    return {
      kind: "refused",
      reason: grant === "api" && isBadToken(response) ? "bad_token" : error,
    };
  if (asksForRetry(status)) return { kind: "outage", reason: `http_${String(status)}` };
  const reason = error ?? `http_${String(status)}`;
  if (error === "invalid_client") return { kind: "operator", reason };
  if (grant === "exchange" || grant === "push" || (grant === "api" && error !== undefined))
    return { kind: "refused", reason };
  return { kind: status !== 400 || OPERATOR_ERRORS.has(reason) ? "operator" : "refused", reason };
}

/**
 * Whether Entra ID says that the refresh token itself is dead, and not only the access to one API
 * (suberror `bad_token`).
 */
function isBadToken(response: ProviderResponse): boolean {
  return jsonObject(response)?.["suberror"] === "bad_token";
}

/** The usable parts of a token response (RFC 6749 section 5.1); unusable parts are undefined. */
export interface TokenResponse {
  /** Only of a bearer token. */
  readonly accessToken: string | undefined;
  readonly refreshToken: string | undefined;
  readonly idToken: string | undefined;
  readonly scopes: readonly string[] | undefined;
  readonly resources: readonly string[] | undefined;
  /** Seconds. */
  readonly expiresIn: number | undefined;
}

export function tokensOf(body: Readonly<Record<string, unknown>>): TokenResponse {
  const type = body["token_type"];
  const idToken = body["id_token"] ?? undefined;
  const isBearer = typeof type === "string" && type.toLowerCase() === "bearer";
  return {
    accessToken: isBearer ? visible(body["access_token"]) : undefined,
    refreshToken: text(body["refresh_token"]),
    // An ID token of another type is wrong, not missing.
    idToken: idToken === undefined ? undefined : (text(idToken) ?? ""),
    scopes: text(body["scope"])
      ?.split(" ")
      .filter((scope) => scope !== ""),
    resources: body["resource"] === undefined ? undefined : [body["resource"]].flat().map(String),
    expiresIn: lifetime(body["expires_in"]),
  };
}

/** Seconds: a century. A longer lifetime is ignored. */
const MAX_LIFETIME = 100 * 365 * 86_400;

/** Reads a lifetime in seconds. Some providers send a string. Undefined for an invalid value. */
export function lifetime(value: unknown): number | undefined {
  const seconds = typeof value === "string" && /^\d{1,12}$/.test(value) ? Number(value) : value;
  return typeof seconds === "number" && seconds >= 0 && seconds <= MAX_LIFETIME
    ? seconds
    : undefined;
}

/**
 * Returns a token of visible characters (RFC 6749 appendix A.12), since others cannot be sent in a
 * header.
 */
function visible(value: unknown): string | undefined {
  const token = text(value);
  return token !== undefined && /^[\x20-\x7e]+$/.test(token) ? token : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Returns when a token expires that was received at this time. @param expiresIn seconds */
export function expiryOf(
  receivedAt: EpochSeconds,
  expiresIn: number | undefined,
): EpochSeconds | undefined {
  return expiresIn === undefined ? undefined : Math.floor(receivedAt + expiresIn);
}
