/** Requests to APIs with a token that is bound to a key (RFC 9449 section 7). */
import { epochSeconds, type Clock } from "../clock.js";
import type { Api } from "../config/api-options.js";
import { DpopNonces } from "../provider/dpop/dpop-nonces.js";
import { dpopProof } from "../provider/dpop/dpop-proof.js";
import type { AccessToken, DpopKey } from "../record/dpop.js";

/** What a proof is for. */
export interface ProvenCall {
  readonly api: Api;
  readonly method: string;
  readonly url: URL;
  readonly clock: Clock;
  readonly token: AccessToken;
}

interface Sending<Response> {
  /** @param proof the value of the header `DPoP` */
  send(proof: string): Promise<Response>;
  /** Returns the header `DPoP-Nonce`. */
  nonceIn(response: Response): string | null | undefined;
}

/** The newest nonces of each API. */
const known = new WeakMap<Api, DpopNonces>();

/** Sends a request with a proof, and keeps the nonce that the API wants in the next one. */
export async function sendProven<Response>(
  { api, method, url, clock, token: { value, dpopKey } }: ProvenCall,
  { send, nonceIn }: Sending<Response>,
): Promise<Response> {
  if (dpopKey === undefined) throw new TypeError("The token isn't bound to a key.");
  const nonces = known.get(api) ?? new DpopNonces();
  known.set(api, nonces);
  const nonce = nonces.of(url.origin);
  const response = await send(
    await dpopProof(dpopKey, {
      method,
      url,
      accessToken: value,
      nonce,
      now: epochSeconds(clock),
    }),
  );
  nonces.keep(url.origin, nonceIn(response));
  return response;
}

/** What a client of the application's own sends a request with. */
export interface OwnCall {
  readonly method: string;
  readonly url: URL;
  readonly accessToken: string;
  readonly nonce: string | undefined;
}

/** Returns the proof of a request that the application sends itself. */
export function ownProof(key: DpopKey, call: OwnCall, clock: Clock): Promise<string> {
  return dpopProof(key, { ...call, now: epochSeconds(clock) });
}
