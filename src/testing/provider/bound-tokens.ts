/** Whether the one who presents an access token is the one it is bound to. */
import type { PresentedCertificate } from "../certificates/presented-certificate.js";
import type { Proof, ProofCheck } from "./dpop-proofs.js";

/** An access token in the header `Authorization`. */
export interface PresentedToken {
  readonly scheme: "Bearer" | "DPoP";
  readonly token: string;
}

/** Returns the token of a header. */
export function presentedToken(authorization: string | undefined): PresentedToken | undefined {
  const [, scheme = "", token = ""] = /^(Bearer|DPoP) (\S+)$/i.exec(authorization ?? "") ?? [];
  if (token === "") return undefined;
  return { scheme: scheme.toLowerCase() === "dpop" ? "DPoP" : "Bearer", token };
}

/** A request with an access token. */
export interface TokenRequest {
  readonly presented: PresentedToken;
  /** The header `DPoP`. */
  readonly proof: string | undefined;
  readonly method: string;
  /** Absolute. */
  readonly url: string;
  readonly certificate: PresentedCertificate | undefined;
}

/** Why a request isn't from the one that the token is bound to. */
export interface BindingMistake {
  /** RFC 6750 section 3.1, RFC 9449 section 7.1. */
  readonly error: "invalid_token" | "invalid_dpop_proof" | "use_dpop_nonce";
  readonly reason: string;
}

/** Checks a token's binding. @param claims of the token */
export async function bindingMistake(
  request: TokenRequest,
  claims: Readonly<Record<string, unknown>>,
  check: ProofCheck,
): Promise<BindingMistake | undefined> {
  const { jkt, "x5t#S256": thumbprint } = Object(claims["cnf"]) as Readonly<
    Record<string, unknown>
  >;
  if (thumbprint !== undefined) {
    const { certificate } = request;
    if (certificate === undefined)
      return invalid("the token is bound to a certificate, and the client has presented none");
    if (certificate.thumbprint !== thumbprint)
      return invalid("the token is bound to another certificate");
  }
  const isProven = request.presented.scheme === "DPoP";
  if (jkt === undefined)
    return isProven
      ? invalid("the token isn't bound to a key, so it is a Bearer token")
      : undefined;
  // Otherwise a stolen token would work without its key (RFC 9449 section 7.2).
  if (!isProven) return invalid("the token is bound to a key, so it isn't a Bearer token");
  return proofMistake(request, jkt, check);
}

async function proofMistake(
  { presented, proof, method, url }: TokenRequest,
  jkt: unknown,
  check: ProofCheck,
): Promise<BindingMistake | undefined> {
  if (proof === undefined) return wrongProof("the request has no proof in the header DPoP");
  const read: Proof | { readonly mistake: string } = await check.read({
    proof,
    method,
    url,
    accessToken: presented.token,
  });
  if ("mistake" in read) return wrongProof(read.mistake);
  if (read.jkt !== jkt) return invalid("the proof's key isn't the one that the token is bound to");
  return check.hasNonce(read)
    ? undefined
    : { error: "use_dpop_nonce", reason: "the proof has no nonce that this server accepts" };
}

function invalid(reason: string): BindingMistake {
  return { error: "invalid_token", reason };
}

function wrongProof(reason: string): BindingMistake {
  return { error: "invalid_dpop_proof", reason };
}
