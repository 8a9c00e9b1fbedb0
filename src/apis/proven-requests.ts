/** The proofs in requests with a token that is bound to a key (RFC 9449 section 7). */
import { epochSeconds, type Clock } from "../clock.js";
import { dpopProof } from "../provider/dpop/dpop-proof.js";
import type { DpopKey } from "../record/dpop.js";

/** A request that needs a proof. */
export interface ProvenRequest {
  readonly method: string;
  readonly url: URL;
  readonly accessToken: string;
  readonly nonce: string | undefined;
}

/** Returns the value of the header `DPoP`. */
export function proofOf(key: DpopKey, request: ProvenRequest, clock: Clock): Promise<string> {
  return dpopProof(key, { ...request, now: epochSeconds(clock) });
}
