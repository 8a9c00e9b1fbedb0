import type { ClientKey } from "./client-keys.js";

/** Returns the key that signs: the first one. The others are only published. */
export function signingKey(keys: readonly ClientKey[] | null | undefined): ClientKey | undefined {
  return keys?.[0];
}
