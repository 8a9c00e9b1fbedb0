import { calculateJwkThumbprint, type JWK } from "jose";

/** A public key of the client, with the `kid` that names it in an assertion. */
export interface ClientKey {
  readonly jwk: JWK;
  /** RFC 7638. */
  readonly thumbprint: string;
  /** The key's own, or its thumbprint. */
  readonly kid: string;
}

/** Returns the members of a list of keys or a JWK set; undefined for anything else. */
export function keysIn(value: unknown): readonly unknown[] | undefined {
  const keys: unknown = Array.isArray(value) ? value : (Object(value) as { keys?: unknown }).keys;
  return Array.isArray(keys) ? (keys as unknown[]) : undefined;
}

/** Whether a value is a key without a private part. */
export function isPublicKey(value: unknown): boolean {
  const { kty, d, k } = Object(value) as Readonly<Record<string, unknown>>;
  return typeof kty === "string" && d === undefined && k === undefined;
}

/** Returns the client's keys. @param clientJwks the setting */
export function clientKeys(clientJwks: unknown): Promise<readonly ClientKey[]> {
  return Promise.all(
    ((keysIn(clientJwks) ?? []) as readonly JWK[]).map(async (jwk) => {
      const thumbprint = await calculateJwkThumbprint(jwk);
      return { jwk, thumbprint, kid: jwk.kid ?? thumbprint };
    }),
  );
}
