/**
 * Whether a response demands a nonce in the proof (RFC 9449 section 9).
 * @param challenge the header `WWW-Authenticate`
 */
export function demandsDpopNonce(challenge: string | null | undefined): boolean {
  return /\bDPoP\b/i.test(challenge ?? "") && /\buse_dpop_nonce\b/.test(challenge ?? "");
}
