import type { IncomingHttpHeaders } from "node:http";
import type { PresentedCertificate } from "../certificates/presented-certificate.js";
import type { NonceDemand } from "../provider/dpop-nonces.js";
import type { TokenClaims } from "./access-token-checks.js";
import type { StepUpRequirement } from "./admission.js";

/** Options of `startTestApi`. */
export interface TestApiOptions {
  /**
   * What a token's `aud` must be or contain. Default: the token's issuer, as in a test provider's
   * tokens.
   */
  readonly audience?: string;
  /** The scopes that a token needs, separated by spaces. A token without one of them gets 403. */
  readonly scope?: string;
  /**
   * Asks the provider about each token (RFC 7662), so that revoked ones are refused. Default false:
   * only about tokens that are no JWTs. A test provider is asked without a request.
   */
  readonly introspection?: boolean;
  /**
   * Whether the API speaks TLS and asks each client for a certificate, with a certificate of the
   * kit's authority; default false. A token that is bound to a certificate needs it.
   */
  readonly tls?: boolean;
  /**
   * When a DPoP proof must have a nonce of the API (RFC 9449 section 9): `none` (default), `always`
   * (each nonce works once) or `rotates` (a nonce works until the next one replaces it).
   */
  readonly dpopNonce?: Exclude<NonceDemand, "refresh">;
  /** How long a nonce works that rotates; default 300. `rotateDpopNonce()` ends it at once. */
  readonly dpopNonceSeconds?: number;
  /** By how many seconds the `iat` of a proof may differ from the provider's clock; default 60. */
  readonly dpopProofSeconds?: number;
  /** Returns what the API responds with, as JSON. Default: the request's method, path and user. */
  readonly respond?: (request: ApiRequest) => unknown;
}

/** A request that the API received. */
export interface ApiRequest {
  /** Upper case. */
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Names in lower case, as Node parses them. */
  readonly headers: IncomingHttpHeaders;
  /** As text; empty if there is none. */
  readonly body: string;
  /** Of the access token; undefined if it is missing or invalid. */
  readonly claims: TokenClaims | undefined;
  /** Of the response. 101: a WebSocket. 500: the token's check or `respond` has failed. */
  readonly status: number;
  /** The client's certificate; undefined: it has presented none. */
  readonly certificate: PresentedCertificate | undefined;
}

/** A running API. */
export interface TestApi {
  /** Its address, which ends with a slash, for the option `apis`. */
  readonly url: string;
  /** Every request, in the order of the responses. */
  readonly requests: readonly ApiRequest[];
  /** Refuses the next token with 401 `invalid_token`, even if it is valid. */
  refuseNext(): void;
  /**
   * From now on, refuses each token with 401 `insufficient_user_authentication` (RFC 9470) whose
   * sign-in is too old, or of another `acr`. Without a parameter, it stops.
   */
  requireStepUp(requirement?: StepUpRequirement): void;
  /** Ends every DPoP nonce of now, so that the next proof that needs one is refused. */
  rotateDpopNonce(): void;
  /**
   * Sends an event to each open `/stream`, and a message to each open WebSocket: a string as it is,
   * and anything else as JSON.
   */
  send(data: unknown): void;
  /** Closes the listener and every connection at once. */
  stop(): Promise<void>;
  /** The same as `stop`, for `await using api = await startTestApi(provider)`. */
  [Symbol.asyncDispose](): Promise<void>;
}
