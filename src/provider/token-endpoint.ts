import { createHash } from "node:crypto";
import { genericTokenEndpointRequest, refreshTokenGrantRequest } from "oauth4webapi";
import type { Clock, EpochSeconds } from "../clock.js";
import { ProviderRefusedError, ProviderUnavailableError } from "../errors.js";
import type { CodeExchange, RefreshRequest } from "../ports/provider.js";
import {
  createSignInBackOff,
  keyOf,
  type Failure,
  type FailureListener,
  type RefreshBackOff,
} from "./back-off.js";
import { authenticationInWords, credentialsInWords } from "./client-authentication.js";
import type { ProviderMetadata } from "./discovery.js";
import { isObject } from "../record/json.js";
import {
  jsonObject,
  type ClientRequest,
  type ProviderConnection,
  type ProviderResponse,
} from "./provider-connection.js";
import { asksToTryLater, meaningOf, type Grant } from "./response-meaning.js";

/** The sessions whose ambiguous responses are remembered. The oldest is forgotten first. */
const MAX_AMBIGUOUS = 10_000;
/** Milliseconds until an ambiguous response counts as one of another outage. Our decision. */
const AMBIGUOUS_FOR = 600_000;

/** The token endpoint. A request is never repeated, since a code or a refresh token works once. */
export function createTokenEndpoint(connection: ProviderConnection, refreshes: RefreshBackOff) {
  const exchanges = createSignInBackOff(connection.clock, connection.random);
  const ambiguities = createAmbiguities(connection.clock);

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
    const send = () => connection.sendAsClient(metadata.token_endpoint, request);
    const body = await sendGrant(connection, { grant: "exchange", send, backOff: exchanges });
    ambiguities.succeeded();
    return tokensOf(body);
  }

  /** Sends the request even during the back-off of refreshes. */
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
        send: () => connection.sendAsClient(metadata.token_endpoint, request, signal),
        backOff: {
          succeeded: refreshes.responded,
          failed: (startedAt, failure) => refreshes.failed(refreshing, startedAt, failure),
        },
        isRefusedNow: () => ambiguities.isSecond(refreshing),
      });
      ambiguities.succeeded(refreshing);
      return tokensOf(body);
    } catch (error) {
      throw error instanceof ProviderUnavailableError ? refreshes.withLogin(error) : error;
    }
  }

  return { assertReadyToExchange, exchange, refresh };
}

/**
 * The memory of ambiguous responses. An ambiguous response refuses a session at the second time, if
 * a token request of the same client has succeeded in between: neither a wrong secret nor an
 * overload, which concern all sessions, explains it then. A response of long ago, or to a token that
 * has been replaced since, belongs to another outage: another process may have refreshed meanwhile.
 */
function createAmbiguities(clock: Clock) {
  /** The first times: by API of a session; of a session by its token, as a hash. */
  const before = new Map<string, { readonly successes: number; readonly at: number }>();
  let successes = 0;

  function nameOf(refresh: RefreshRequest): string {
    // The refreshes for other APIs rotate the token, too.
    if (refresh.target !== undefined) return keyOf(refresh);
    const text = `${refresh.session} ${refresh.refreshToken}`;
    return createHash("sha256").update(text).digest("base64url");
  }

  return {
    isSecond(refresh: RefreshRequest): boolean {
      const name = nameOf(refresh);
      const at = clock.monotonic();
      const first = before.get(name);
      if (first !== undefined && at - first.at < AMBIGUOUS_FOR) {
        if (first.successes === successes) return false;
        before.delete(name);
        return true;
      }
      before.delete(name);
      before.set(name, { successes, at });
      const [oldest] = before.keys();
      if (before.size > MAX_AMBIGUOUS && oldest !== undefined) before.delete(oldest);
      return false;
    },
    /** @param refresh undefined: a code exchange */
    succeeded(refresh?: RefreshRequest): void {
      successes += 1;
      if (refresh === undefined || before.size === 0) return;
      before.delete(nameOf(refresh));
      // Also of the session, whose refresh token works.
      before.delete(nameOf({ ...refresh, target: undefined }));
    },
  };
}

/** A request with the client's credentials. */
interface GrantRequest {
  readonly grant: Grant;
  readonly send: () => Promise<ProviderResponse>;
  readonly backOff: FailureListener;
  /** Whether an ambiguous response refuses now. Default: it is an outage. */
  readonly isRefusedNow?: () => boolean;
}

/**
 * Sends a request with the client's credentials, and returns the body of a success.
 *
 * @throws ProviderRefusedError | ProviderUnavailableError
 */
export async function sendGrant(
  connection: ProviderConnection,
  { grant, send, backOff, isRefusedNow = () => false }: GrantRequest,
): Promise<Readonly<Record<string, unknown>>> {
  const meaning = await connection.call({
    endpoint: grant === "push" ? "par" : "token",
    send,
    read: (response) => {
      const read = meaningOf(response, grant);
      if (read.kind === "ok") return read;
      const { kind, reason } = read;
      if (kind === "operator" || isMaybeAudience(connection, reason))
        reportMistake(connection, grant, { reason, status: response.status });
      if (kind === "refused" || (kind === "ambiguous" && isRefusedNow()))
        return { kind: "refused" as const, reason, claims: claimsChallenge(response) };
      throw new ProviderUnavailableError(reason, { misconfigured: kind === "operator" });
    },
    backOff: {
      succeeded: backOff.succeeded,
      failed: (startedAt, failure) =>
        backOff.failed(
          startedAt,
          asksToTryLater(failure.reason) ? { ...failure, status: 503 } : failure,
        ),
    },
  });
  if (meaning.kind === "refused") throw new ProviderRefusedError(meaning.reason, meaning);
  return meaning.body;
}

/** Characters of `claims`, which goes into the address of a login. Entra ID sends some hundred. */
const MAX_CLAIMS_LENGTH = 2_000;

/**
 * Returns what the next login has to ask for (claims challenge):
 * https://learn.microsoft.com/en-us/entra/identity-platform/claims-challenge. Undefined: nothing, or
 * nothing that is a claims request of OpenID Connect.
 */
function claimsChallenge(response: ProviderResponse): string | undefined {
  const given = jsonObject(response)?.["claims"];
  const claims = typeof given === "string" ? jsonObject({ text: given }) : undefined;
  const isRequest = claims !== undefined && Object.values(claims).every(isObject);
  const normal = isRequest ? JSON.stringify(claims) : "";
  return normal !== "" && normal.length <= MAX_CLAIMS_LENGTH ? normal : undefined;
}

/**
 * Whether an operator must hear of a refused sign-in, too: for a client with a key, an empty 403
 * can mean that the provider expects another `aud` in the assertion.
 */
function isMaybeAudience({ settings }: ProviderConnection, reason: string): boolean {
  return reason === "http_403" && settings.privateKey !== null;
}

function reportMistake(
  connection: ProviderConnection,
  grant: Grant,
  { reason, status }: Pick<Failure, "reason" | "status">,
): void {
  const endpoint = grant === "push" ? "par" : "token";
  const where =
    endpoint === "token" ? "token endpoint" : "endpoint for pushed authorization requests";
  const sent = `The client authenticated with ${authenticationInWords(connection.settings)}.`;
  const credentials = `Check ${credentialsInWords(connection.settings)}.`;
  const response = `${reason}, status ${String(status)}`;
  const mayBeCredentials = status === 401 || connection.settings.privateKey !== null;
  const message =
    reason === "invalid_client" || grant === "exchange" || grant === "push"
      ? `The ${where} doesn't accept this client (${response}). ${sent} ${credentials}`
      : `The ${where} doesn't allow this client to refresh (${response}). ${sent} Check the client's settings at the provider.${mayBeCredentials ? ` ${credentials}` : ""}`;
  connection.misconfigured({ endpoint, reason, message, status });
}

/**
 * The usable parts of a token response (RFC 6749 section 5.1); unusable parts, and empty strings,
 * are undefined.
 */
export interface TokenResponse {
  /** Only of a bearer token. */
  readonly accessToken: string | undefined;
  /** An access token came that is of another type, which idpauth can't use. */
  readonly isOtherType: boolean;
  readonly refreshToken: string | undefined;
  readonly idToken: string | undefined;
  readonly scopes: readonly string[] | undefined;
  readonly resources: readonly string[] | undefined;
  /** Seconds. */
  readonly expiresIn: number | undefined;
}

export function tokensOf(body: Readonly<Record<string, unknown>>): TokenResponse {
  const type = body["token_type"];
  const idToken = body["id_token"];
  const isBearer = typeof type === "string" && type.toLowerCase() === "bearer";
  const token = text(body["access_token"]);
  const isAbsent = idToken === undefined || idToken === null || idToken === "";
  return {
    accessToken: isBearer ? visible(token) : undefined,
    isOtherType: token !== undefined && !isBearer,
    refreshToken: text(body["refresh_token"]),
    // An ID token that is no string is wrong, not missing. Providers written in Go send an empty one.
    idToken: isAbsent ? undefined : (text(idToken) ?? ""),
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
