/** Which claims userinfo adds to those of a sign-in's ID token, and what happens without them. */
import { ProviderUnavailableError } from "../errors.js";
import type { Identity } from "../record/credentials.js";
import type { IdInfo } from "../record/identity.js";
import { lacksIdentity, withAllOfUserinfo } from "../record/userinfo-claims.js";
import { asksForRetry, createSingleRequestBackOff } from "./back-off.js";
import type { ProviderConnection } from "./provider-connection.js";
import type { ProviderMetadata } from "./provider-metadata.js";
import { userinfoOf, type UserinfoEndpoint, type UserinfoToken } from "./userinfo-endpoint.js";

export interface UserinfoAtSignIn {
  /** @throws ProviderUnavailableError userinfo is required, and its requests at sign-ins back off */
  assertReady(): void;
  /**
   * Adds userinfo's claims to those of a sign-in's ID token: always if userinfo is required,
   * otherwise if the ID token has no claim about the user (OpenID Connect Core section 5.4).
   *
   * @throws ProviderUnavailableError, ProviderRefusedError only if userinfo is required
   */
  complete(metadata: ProviderMetadata, claims: IdInfo, token: UserinfoToken): Promise<Identity>;
}

export function createUserinfoAtSignIn(
  connection: ProviderConnection,
  endpoint: UserinfoEndpoint,
): UserinfoAtSignIn {
  /** Of sign-ins that can do without userinfo. */
  const optional = createSingleRequestBackOff(connection.clock, connection.random);
  /** Of sign-ins that need userinfo. */
  const required = createSingleRequestBackOff(connection.clock, connection.random);

  function assertReady(): void {
    if (endpoint.isRequired) required.assertReady();
  }

  async function complete(
    metadata: ProviderMetadata,
    claims: IdInfo,
    token: UserinfoToken,
  ): Promise<Identity> {
    return endpoint.isRequired
      ? completeAlways(metadata, claims, token)
      : completeIfNeeded(metadata, claims, token);
  }

  async function completeAlways(
    metadata: ProviderMetadata,
    claims: IdInfo,
    token: UserinfoToken,
  ): Promise<Identity> {
    const userinfo = await endpoint.callRequired(metadata, {
      token,
      sub: claims.sub,
      consequence: ({ env }) => `The sign-in stops, since ${env("userinfo")} is always.`,
      backOff: required,
    });
    return { ...withAllOfUserinfo(claims, userinfo), userinfo };
  }

  async function completeIfNeeded(
    { userinfo_endpoint: url }: ProviderMetadata,
    claims: IdInfo,
    token: UserinfoToken,
  ): Promise<Identity> {
    if (url !== undefined && lacksIdentity(claims)) {
      try {
        const response = await connection.callBestEffort("userinfo", optional, () =>
          endpoint.send(url, token),
        );
        const userinfo = userinfoOf(response, claims.sub);
        if (userinfo.kind === "claims")
          return { ...withAllOfUserinfo(claims, userinfo.claims), userinfo: userinfo.claims };
        if (userinfo.kind === "signed") endpoint.signed();
        else {
          const { kind } = userinfo;
          unusable(
            response.status,
            kind === "token_refused" ? "userinfo_refused" : userinfo.reason,
          );
        }
      } catch (error) {
        const reason = error instanceof ProviderUnavailableError ? error.reason : "unexpected";
        connection.warn(
          "userinfo",
          "The userinfo endpoint didn't respond. The sign-in continues without it.",
          { reason },
        );
      }
    }
    return { idInfo: claims, userinfoClaims: [] };
  }

  /** Reports a response that the sign-in does without. */
  function unusable(status: number, reason: string): void {
    const { issuer } = connection.settings;
    const event = { issuer, side: "provider", endpoint: "userinfo", reason } as const;
    // An outage by its status has its event already.
    if (!asksForRetry(status)) connection.events.emit("outage", event, null);
    connection.warn(
      "userinfo",
      "The userinfo response can't be used. The sign-in continues without it.",
      { status, reason },
    );
  }

  return { assertReady, complete };
}
