/** The nonces that APIs demand in the proofs of bound tokens (RFC 9449 section 9). */
import type { Api } from "../config/api-options.js";
import { DpopNonces } from "../provider/dpop/dpop-nonces.js";
import { isDpopNonce } from "../record/dpop.js";

/** The nonces of one API, as a request to it uses them. */
export interface ApiNonces<Response> {
  /** The newest one that all requests share; undefined: none is known. */
  newest(): string | undefined;
  /** The nonce of a response; undefined: it has none that could be sent. */
  of(response: Response): string | undefined;
  /** Shares a nonce with further requests. */
  share(nonce: string | undefined): void;
}

/** Each API's own: what one demands, no other one gets. */
const known = new WeakMap<Api, DpopNonces>();

/** @param headerOf returns the header `DPoP-Nonce` of a response */
export function noncesOf<Response>(
  api: Api,
  { origin }: URL,
  headerOf: (response: Response) => string | null | undefined,
): ApiNonces<Response> {
  const nonces = known.get(api) ?? new DpopNonces();
  known.set(api, nonces);
  return {
    newest: () => nonces.of(origin),
    of(response) {
      const nonce = headerOf(response);
      return isDpopNonce(nonce) ? nonce : undefined;
    },
    share: (nonce) => void nonces.keep(origin, nonce),
  };
}
