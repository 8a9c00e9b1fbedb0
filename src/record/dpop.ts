/** The key to which a session's tokens are bound (DPoP, RFC 9449). */

/** A private key on the curve P-256: the members of its JWK (RFC 7518 section 6.2) that tell it. */
export interface DpopKey {
  readonly x: string;
  readonly y: string;
  readonly d: string;
}

/** What a session proves its tokens with. */
export interface DpopBinding {
  readonly key: DpopKey;
  /** The newest nonce of the token endpoint, with which another process can begin. */
  readonly nonce?: string;
}

/** An access token, and what a request with it needs. */
export interface AccessToken {
  readonly value: string;
  /** The key that the token is bound to. Undefined: it is a bearer token. */
  readonly dpopKey?: DpopKey | undefined;
}

/** Base64url of 32 bytes. */
const COORDINATE = /^[\w-]{43}$/;

/**
 * A nonce (RFC 9449 section 8.1). A longer one isn't kept, because it would be a part of each record
 * and of each request.
 */
const NONCE = /^[\x21\x23-\x5b\x5d-\x7e]{1,512}$/;

/** Whether a stored value is a coordinate of a key, or its private part. */
export function isCoordinate(value: unknown): boolean {
  return typeof value === "string" && COORDINATE.test(value);
}

export function isDpopNonce(value: unknown): value is string {
  return typeof value === "string" && NONCE.test(value);
}
