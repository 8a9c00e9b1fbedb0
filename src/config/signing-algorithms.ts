/**
 * The accepted signature algorithms: asymmetric ones (RFC 7518 section 3.1, RFC 8037, RFC 9864).
 */
export const SIGNING_ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
] as const;

type SigningAlgorithm = (typeof SIGNING_ALGORITHMS)[number];

export function isSigningAlgorithm(value: unknown): value is SigningAlgorithm {
  return SIGNING_ALGORITHMS.some((algorithm) => algorithm === value);
}

/** What FAPI 2.0 allows (Security Profile, section 5.4.1). EdDSA and Ed25519 name the same one. */
const FAPI_2_ALGORITHMS: readonly string[] = ["PS256", "ES256", "EdDSA", "Ed25519"];

/** Returns those of the algorithms that the profile in `IDP_FAPI` allows. */
export function profileAlgorithms<Algorithm extends string>(
  algorithms: readonly Algorithm[],
  { fapi }: { readonly fapi?: 2 | null | undefined },
): Algorithm[] {
  return algorithms.filter((algorithm) => fapi !== 2 || FAPI_2_ALGORITHMS.includes(algorithm));
}
