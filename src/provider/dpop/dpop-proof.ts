/** The proof of a request to an API (RFC 9449 section 4.2). */
import { createHash, randomBytes } from "node:crypto";
import { SignJWT } from "jose/jwt/sign";
import type { EpochSeconds } from "../../clock.js";
import type { DpopKey } from "../../record/dpop.js";
import { withoutUndefined } from "../../record/without-undefined.js";
import { privateKeyOf, publicJwk } from "./dpop-keys.js";

/** What a proof is for. */
export interface ProvenCall {
  readonly method: string;
  /** The request's address. Query and fragment aren't part of a proof. */
  readonly url: URL;
  readonly accessToken: string;
  readonly nonce: string | undefined;
  readonly now: EpochSeconds;
}

/** Returns the value of the header `DPoP`, which an API accepts for one request. */
export async function dpopProof(
  key: DpopKey,
  { method, url, accessToken, nonce, now }: ProvenCall,
): Promise<string> {
  const claims = withoutUndefined({
    jti: randomBytes(16).toString("base64url"),
    htm: method,
    htu: `${url.origin}${url.pathname}`,
    iat: now,
    ath: createHash("sha256").update(accessToken).digest("base64url"),
    nonce,
  });
  const header = { alg: "ES256", typ: "dpop+jwt", jwk: { ...publicJwk(key) } };
  return new SignJWT(claims).setProtectedHeader(header).sign(await privateKeyOf(key));
}
