import { fetchUserinfo, UserinfoError } from "./userinfo.js";

/** What the orders API knows of a user. */
export interface OrdersUser {
  /** Of this user alone, whichever provider it is. */
  readonly key: string;
  /** Epoch seconds of the sign-in. Undefined: the provider doesn't say. */
  readonly signedInAt: number | undefined;
}

/**
 * Returns the user whose access token it is; undefined if no provider accepts it. The tokens are
 * opaque, so only the provider can check them.
 *
 * @param issuers more than one only if all of them are the demo's own, because each of them gets
 *   the token
 * @throws UserinfoError a provider cannot be reached
 */
export async function userOf(
  token: string,
  issuers: readonly string[],
): Promise<OrdersUser | undefined> {
  for (const issuer of issuers) {
    try {
      const { sub, signed_in_at: signedInAt } = (await fetchUserinfo(issuer, token)) as Record<
        string,
        unknown
      >;
      return {
        key: JSON.stringify([issuer, sub]),
        signedInAt: typeof signedInAt === "number" ? signedInAt : undefined,
      };
    } catch (error) {
      if (!(error instanceof UserinfoError) || error.status !== 401) throw error;
    }
  }
  return undefined;
}
