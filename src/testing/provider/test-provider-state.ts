import type { KeyObject } from "node:crypto";
import type { ProofCheck } from "./dpop-proofs.js";
import type { Grants } from "./grants.js";
import type { PersonClaims } from "./people.js";
import type { ProviderSessions } from "./provider-sessions.js";
import type { PushedRequests } from "./pushed-requests.js";
import type { Endpoint, ReceivedRequest } from "./received-requests.js";
import { jsonReply, type ProviderReply } from "./replies.js";
import type { JsonPart, SigningKeys } from "./signing-keys.js";
import type { ProviderSettings } from "./test-provider-settings.js";

/** An ID token before it is signed. */
export interface IdTokenDraft {
  /** `alg`, `typ` and the key's `kid`. */
  readonly header: Record<string, unknown>;
  /** Those that the provider would sign. */
  readonly claims: Record<string, unknown>;
  /** `authorization_code`: a sign-in. `refresh_token`: a refresh. */
  readonly grant: "authorization_code" | "refresh_token";
  /** The provider's current key pair, in the forms that tests need. */
  readonly privateKey: KeyObject;
  /** SPKI, as an attacker uses it for HS256. */
  readonly publicKeyPem: string;
  /** Without `kid`, `use` and `alg`. */
  readonly publicJwk: Readonly<Record<string, unknown>>;
  /**
   * Returns the compact form, signed with the header's algorithm, without any checks. `none` gives
   * an empty signature. Header and claims given as text are used byte for byte.
   *
   * @param key default the current private key; bytes for HS256, another private key for a forged
   *   or foreign signature
   */
  sign(header: JsonPart, claims: JsonPart, key?: KeyObject | Uint8Array): string;
}

/** Header and claims to sign as usual, or the finished token as text. */
export type MutatedIdToken =
  | string
  | {
      /** Default: the draft's. */
      readonly header?: JsonPart;
      /** Default: the draft's. */
      readonly claims?: JsonPart;
    };

/** The JWT of an authorization response (JARM) before it is signed. */
export type ResponseJwtDraft = Omit<IdTokenDraft, "grant">;

/** Functions of a test that change the provider's responses. Undefined: no change. */
export interface ProviderHooks {
  /**
   * Changes an ID token. The draft is the test's own: change it in place and return it, or return
   * something else.
   */
  mutateIdToken: ((draft: IdTokenDraft) => MutatedIdToken | Promise<MutatedIdToken>) | undefined;
  /**
   * Changes a successful token reply; the result is sent as JSON (undefined: the reply, changed in
   * place).
   */
  tokenResponse:
    ((reply: Record<string, unknown>, request: ReceivedRequest) => unknown) | undefined;
  /** Changes the parameters of an authorization reply, in place. */
  authorizationResponse: ((params: URLSearchParams, request: ReceivedRequest) => void) | undefined;
  /**
   * Changes the JWT of an authorization response (JARM), as `mutateIdToken` does an ID token. Null:
   * the response goes out without it, as plain parameters.
   */
  mutateResponseJwt:
    | ((draft: ResponseJwtDraft) => MutatedIdToken | null | Promise<MutatedIdToken | null>)
    | undefined;
  /** Changes the discovery document; returns as `tokenResponse` does. */
  discoveryDocument: ((document: Record<string, unknown>) => unknown) | undefined;
  /** Changes the userinfo reply; returns as `tokenResponse` does. */
  userinfoResponse: ((claims: Record<string, unknown>) => unknown) | undefined;
}

/** A request that the provider refused. */
export interface Refusal {
  readonly endpoint: Endpoint;
  /** The response's error code. */
  readonly error: string;
  /** The cause, without a full stop. It contains no secrets and no control characters. */
  readonly reason: string;
}

/** The provider's parts that its endpoints use. */
export interface ProviderState {
  readonly issuer: string;
  /** The issuer without a trailing slash; endpoint paths follow it. */
  readonly base: string;
  readonly settings: ProviderSettings;
  readonly hooks: ProviderHooks;
  readonly keys: SigningKeys;
  readonly grants: Grants;
  /**
   * The endpoints for clients with a certificate, as `base`; undefined: they are those of everyone.
   */
  readonly mtlsBase: string | undefined;
  /** Checks proofs of DPoP. */
  readonly proofs: ProofCheck;
  /** The `jti` of each client assertion. */
  readonly usedAssertions: Set<string>;
  /** The `sub` of each user whose first sign-in at Apple has been. */
  readonly appleUsers: Set<string>;
  readonly pushed: PushedRequests;
  readonly people: readonly PersonClaims[];
  readonly sessions: ProviderSessions;
  /** The user who signs in next, unless the request names one. */
  readonly person: PersonClaims;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Records a forbidden action of the client, as a sentence without values. */
  noteViolation(violation: string): void;
  /** Learns why an endpoint refuses a request. */
  noteRefusal(refusal: Refusal): void;
}

/**
 * Returns the value as a JSON reply, after the hook. A hook that returns undefined has changed the
 * value in place.
 */
export function jsonAfterHook(
  value: Record<string, unknown>,
  change: ((value: Record<string, unknown>) => unknown) | undefined,
): ProviderReply {
  const returned = change?.(value);
  return jsonReply(returned === undefined ? value : returned);
}
