import type { UnnamedFinding } from "../config/findings.js";
import {
  jsonObject,
  type ProviderHttp,
  type ProviderResponse,
} from "../provider/http-to-provider.js";
import { fetchKeySet, isUsableKey, MAX_KEYS } from "../provider/key-set.js";
import { isObject } from "../record/json.js";
import { failureOf } from "./explain-connection-error.js";
import { liveCheck } from "./live-check-table.js";
import { listed, shownEndpoint } from "./message-parts.js";
import { FROM_THIS_MACHINE } from "./unreachable-endpoint.js";

/**
 * Fetches the provider's key set (RFC 7517) and returns what is wrong with it.
 *
 * @param algorithms accepted for ID tokens. One key for one algorithm is enough, since providers
 *   announce more than they use
 * @param timeout IDP_HTTP_TIMEOUT, seconds
 */
export async function keyFindings(
  address: string,
  algorithms: readonly string[],
  { http, timeout }: { readonly http: ProviderHttp; readonly timeout: number },
): Promise<UnnamedFinding[]> {
  let response: ProviderResponse;
  try {
    response = await fetchKeySet(address, http);
  } catch (error) {
    const { kind, words, remedy } = failureOf(error, timeout);
    const shown = shownEndpoint(address);
    const message = `The provider's key set (jwks_uri${shown === undefined ? "" : `: ${shown}`}) can't be fetched: its server ${words}.`;
    if (kind === "address") return [liveCheck("E117", message)];
    return [liveCheck("E108", message, kind === "network" ? FROM_THIS_MACHINE : remedy)];
  }
  if (response.status !== 200)
    return [
      liveCheck(
        "E108",
        `The provider's jwks_uri returns status ${response.status} instead of a key set.`,
      ),
    ];
  return keySetFindings(jsonObject(response)?.["keys"], algorithms);
}

/** Compares a key set with the algorithms of ID tokens. */
function keySetFindings(keys: unknown, algorithms: readonly string[]): UnnamedFinding[] {
  if (!Array.isArray(keys))
    return [liveCheck("E108", "The provider's jwks_uri doesn't return a key set.")];
  if (keys.length === 0) return [liveCheck("E108", "The provider's key set (jwks_uri) is empty.")];
  const usable = keys.slice(0, MAX_KEYS).filter(isUsableKey);
  if (usable.length === 0) {
    const none = keys.length === 1 ? "The one key" : `None of the ${keys.length} keys`;
    const is = keys.length === 1 ? "isn't a public signing key" : "is a public signing key";
    return [
      liveCheck(
        "E108",
        `${none} in the provider's key set (jwks_uri) ${is} that idpauth accepts (RSA of 2048 bits or more, EC, OKP).`,
      ),
    ];
  }
  // E107 reports that there is no algorithm.
  if (
    algorithms.length === 0 ||
    usable.some((key) => algorithms.some((algorithm) => fits(key, algorithm)))
  )
    return [];
  return [
    liveCheck(
      "E108",
      `No key in the provider's key set (jwks_uri) fits an advertised algorithm for ID tokens (${listed(algorithms)}).`,
    ),
  ];
}

const CURVES: Readonly<Record<string, readonly string[]>> = {
  ES256: ["P-256"],
  ES384: ["P-384"],
  ES512: ["P-521"],
  EdDSA: ["Ed25519"],
  Ed25519: ["Ed25519"],
};

/** Whether a key can verify signatures of an algorithm (RFC 7518 section 3.1, RFC 8037). */
function fits(key: unknown, algorithm: string): boolean {
  if (!isObject(key)) return false;
  const { kty, crv, alg } = key as { kty?: unknown; crv?: unknown; alg?: unknown };
  if (alg !== undefined && alg !== algorithm) return false;
  const curves = CURVES[algorithm];
  return curves === undefined ? kty === "RSA" : curves.includes(crv as string);
}
