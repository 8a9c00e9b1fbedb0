import type { KeyObject } from "node:crypto";

/** RFC 7518 section 3.3. */
const MIN_RSA_BITS = 2048;

/** Whether an RSA key, of this client or of the provider, is too small to sign. */
export function isTooSmall({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  return asymmetricKeyType === "rsa" && (asymmetricKeyDetails?.modulusLength ?? 0) < MIN_RSA_BITS;
}
