import type { Clock } from "../clock.js";
import type { AssertionAlgorithm, ClientKey } from "../keys/client-keys.js";
import { untilAborted, withDeadline } from "./http-to-provider.js";

/** For which a JWT may take to be signed; `IDP_HTTP_TIMEOUT` if that is less. Our decision. */
const MAX_SIGNING_SECONDS = 15;

/** What a JWT says, and how it is signed. */
export interface JwtDraft {
  readonly header: { readonly alg: AssertionAlgorithm };
  readonly claims: object;
}

/** When the signature is given up. */
export interface SigningLimits {
  readonly clock: Clock;
  /** Seconds. */
  readonly httpTimeout: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Returns a JWT that the client's key has signed (RFC 7519).
 *
 * @throws TypeError the key returned no signature; the error of a key management service, or
 *   of a deadline
 */
export async function signedJwt(
  key: ClientKey,
  { header, claims }: JwtDraft,
  { clock, httpTimeout, signal }: SigningLimits,
): Promise<string> {
  const { alg } = header;
  const input = `${encoded(header)}.${encoded(claims)}`;
  // Its own deadline, also within a refresh: what is left of the refresh's must be enough for the
  // request.
  const signs = () =>
    withDeadline(clock, Math.min(httpTimeout, MAX_SIGNING_SECONDS), async () =>
      key.sign(new TextEncoder().encode(input), { alg }),
    );
  return `${input}.${signatureText(await untilAborted(signal, signs), alg)}`;
}

/**
 * @throws TypeError it is no signature. With ES256, a service may return DER, which RFC 7518
 *   section 3.4 does not allow
 */
function signatureText(signature: unknown, alg: AssertionAlgorithm): string {
  const bytes = signature instanceof ArrayBuffer ? new Uint8Array(signature) : signature;
  if (!ArrayBuffer.isView(bytes)) throw new TypeError("`sign` returned no signature.");
  const isComplete =
    alg === "ES256" || alg === "EdDSA" ? bytes.byteLength === 64 : bytes.byteLength > 0;
  if (!isComplete) throw new TypeError("`sign` returned a signature of a wrong length.");
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64url");
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
