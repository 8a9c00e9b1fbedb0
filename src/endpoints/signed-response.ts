/** The provider's response to a login as a JWT in the query (JARM, `response_mode=jwt`). */
import { queryOf, single } from "../http/request.js";
import { isObject } from "../record/json.js";
import type { Callback, ProviderAnswer } from "./callback-endings.js";

/** The callback's parameter that contains the JWT (JARM section 2.3.1). */
export const SIGNED_RESPONSE = "response";

/**
 * Returns the parameters of the JWT. What the query has beside it doesn't count. Undefined: there is
 * no JWT, or there are several, so anyone can have written the query.
 *
 * @throws ProviderRefusedError, ProviderUnavailableError as the port documents
 */
export async function signedAnswer({
  opened,
  registration,
}: Callback): Promise<ProviderAnswer | undefined> {
  const query = new URLSearchParams(queryOf(opened.request.target));
  const { value: jwt, repeated } = single(query, SIGNED_RESPONSE);
  if (jwt === undefined || jwt === "" || repeated) return undefined;
  const parameters = await registration.provider.verifyResponse(jwt);
  return { query: new URLSearchParams({ ...parameters }), postedName: null };
}

/**
 * Returns the state in a JWT, of which nothing is verified: only to find the callback that verifies
 * it. Undefined: there is none.
 */
export function unverifiedState(jwt: string): string | undefined {
  try {
    const payload = Buffer.from(jwt.split(".")[1] ?? "", "base64url").toString("utf8");
    const claims: unknown = JSON.parse(payload);
    const state = isObject(claims) ? claims["state"] : undefined;
    return typeof state === "string" ? state : undefined;
  } catch {
    return undefined;
  }
}
