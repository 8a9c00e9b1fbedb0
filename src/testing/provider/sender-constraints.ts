/** What a client proves with a request for tokens: a key (RFC 9449) or a certificate (RFC 8705). */
import type { OAuthError } from "./authentication.js";
import type { Proof } from "./dpop-proofs.js";
import type { ReceivedRequest } from "./received-requests.js";
import { errorReply, type ProviderReply } from "./replies.js";
import type { ProviderState } from "./test-provider-state.js";

/** The claim `cnf` of an access token (RFC 7800). */
export interface Confirmation {
  readonly jkt?: string;
  readonly "x5t#S256"?: string;
}

/** A request whose proof is right, if it has one. */
export interface ProvenClient {
  readonly proof: Proof | undefined;
  /** The response if the proof lacks the nonce that it must have. */
  readonly demand: ProviderReply | undefined;
}

/** Reads the proof of a request. `refused`: the response to a wrong one. */
export async function provenClient(
  request: ReceivedRequest,
  state: ProviderState,
): Promise<ProvenClient | { readonly refused: ProviderReply }> {
  const { settings, proofs } = state;
  const header = request.headers["dpop"];
  if (settings.dpop === "ignored" || header === undefined)
    return { proof: undefined, demand: undefined };
  const proof = await proofs.read({
    proof: String(header),
    method: request.method,
    url: addressOf(request, state),
  });
  if ("mistake" in proof) return { refused: errorReply("invalid_dpop_proof", proof.mistake) };
  const isRefresh = request.params.get("grant_type") === "refresh_token";
  const demand = proofs.hasNonce(proof, isRefresh)
    ? undefined
    : errorReply("use_dpop_nonce", "the proof has no nonce that the provider accepts", {
        headers: proofs.demanded(),
      });
  return { proof, demand };
}

/** Returns what a token request lacks that this client must prove. */
export function constraintMistake(
  { certificate }: ReceivedRequest,
  { proof }: ProvenClient,
  { settings }: ProviderState,
): OAuthError | undefined {
  if (settings.dpop === "required" && proof === undefined)
    return {
      error: "invalid_dpop_proof",
      description:
        "the request has no proof in the header DPoP, and this client's tokens are bound to a key",
    };
  if (settings.certificateBoundTokens === "required" && certificate === undefined)
    return {
      error: "invalid_request",
      description:
        "the client has presented no certificate, and this client's tokens are bound to it",
    };
  return undefined;
}

/** Returns what the access token is bound to; undefined: nothing. */
export function confirmation(
  { certificate }: ReceivedRequest,
  { proof }: ProvenClient,
  { settings }: ProviderState,
): Confirmation | undefined {
  const isBound = settings.certificateBoundTokens !== "ignored" && certificate !== undefined;
  if (proof === undefined && !isBound) return undefined;
  return {
    ...(proof !== undefined && { jkt: proof.jkt }),
    ...(isBound && { "x5t#S256": certificate.thumbprint }),
  };
}

/** Returns the reply with a nonce for the client's next proof. */
export function withNonce(
  reply: ProviderReply,
  { proof }: Pick<ProvenClient, "proof">,
  { proofs }: ProviderState,
): ProviderReply {
  return proof === undefined
    ? reply
    : { ...reply, headers: { ...proofs.offered(), ...reply.headers } };
}

/** Returns the address that a request was sent to. */
export function addressOf(
  { headers, url }: ReceivedRequest,
  { base, mtlsBase = base }: ProviderState,
): string {
  const { host, origin } = new URL(mtlsBase);
  return (headers.host === host ? origin : new URL(base).origin) + url;
}
