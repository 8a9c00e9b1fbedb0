/**
 * Whether a response demands a nonce in the proof (RFC 9449 section 9).
 * @param challenge the header `WWW-Authenticate`
 */
export function demandsDpopNonce(challenge: string | null | undefined): boolean {
  return /\bDPoP\b/i.test(challenge ?? "") && /\buse_dpop_nonce\b/.test(challenge ?? "");
}

/**
 * Whether a response refuses the proof, and says nothing of the token (RFC 9449 section 7.1): most
 * often, two clocks differ, or the API knows itself by another address.
 * @param challenge the header `WWW-Authenticate`
 */
export function refusesDpopProof(challenge: string | null | undefined): boolean {
  return /\bDPoP\b/i.test(challenge ?? "") && /\binvalid_dpop_proof\b/.test(challenge ?? "");
}
