import type { IdInfo } from "../record/identity.js";
import { MAX_ID_TOKEN_LENGTH } from "./id-token.js";
import { jsonObject } from "./token-responses.js";
import type { ProviderResponse, Backchannel } from "./transport.js";

/** The meaning of a userinfo response. `reason` is a stable word that is safe to log. */
export type Userinfo =
  | { readonly kind: "claims"; readonly claims: IdInfo }
  /** A JWT (OpenID Connect Core section 5.3.2), which is not supported. */
  | { readonly kind: "signed" }
  /** The access token is not accepted, or the response is about another user. */
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "outage"; readonly reason: string; readonly response: ProviderResponse };

/** Requests the claims of the access token's user (OpenID Connect Core section 5.3). @throws ProviderUnavailableError no response */
export async function askUserinfo(
  backchannel: Backchannel,
  endpoint: string,
  accessToken: string,
  signal?: AbortSignal,
): Promise<ProviderResponse> {
  const headers = { accept: "application/json", authorization: `Bearer ${accessToken}` };
  return backchannel.send(endpoint, { method: "GET", headers }, signal);
}

/** Returns the meaning of a userinfo response. Pure. @param sub the ID token's subject; claims about another user are refused */
export function userinfoOf(response: ProviderResponse, sub: unknown): Userinfo {
  const { status, headers } = response;
  if (/^\s*application\/jwt\b/i.test(headers.get("content-type") ?? "")) return { kind: "signed" };
  // RFC 6750 section 3.1: the token is not valid.
  if (status === 401) return { kind: "refused", reason: "userinfo_refused" };
  // All claims may be stored, as those of an ID token are.
  if (response.text.length > MAX_ID_TOKEN_LENGTH) return { kind: "outage", reason: "too_large", response };
  const claims = status === 200 ? jsonObject(response) : undefined;
  if (claims === undefined) return { kind: "outage", reason: status === 200 ? "not_json" : `http_${String(status)}`, response };
  return claims["sub"] === sub && typeof sub === "string" ? { kind: "claims", claims } : { kind: "refused", reason: "userinfo_sub" };
}
