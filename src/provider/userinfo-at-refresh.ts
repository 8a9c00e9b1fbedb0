/** What userinfo confirms or changes at a refresh. */
import { ProviderRefusedError, ProviderUnavailableError } from "../errors.js";
import {
  confirmedByUserinfo,
  confirmedUntil,
  refreshedClaims,
} from "../record/claims-after-refresh.js";
import type { Identity } from "../record/credentials.js";
import type { IdInfo } from "../record/identity.js";
import { withAllOfUserinfo, withoutUserinfo } from "../record/userinfo-claims.js";
import type { ProviderConnection } from "./provider-connection.js";
import type { RefreshBackOff } from "./refresh-back-off.js";
import type { RefreshCheck } from "./token-verification.js";
import type { UserinfoEndpoint } from "./userinfo-endpoint.js";

export interface UserinfoAtRefresh {
  /**
   * Handles a refresh response without an ID token (OpenID Connect Core section 12.2): userinfo must
   * confirm the same user.
   */
  confirm(check: RefreshCheck, accessToken: string): Promise<Identity>;
  /**
   * Adds userinfo's claims to those of a refreshed ID token. Its earlier claims are replaced or
   * removed.
   */
  renew(check: RefreshCheck, claims: IdInfo): Promise<Identity>;
}

export function createUserinfoAtRefresh(
  connection: ProviderConnection,
  endpoint: UserinfoEndpoint,
  refreshes: RefreshBackOff,
): UserinfoAtRefresh {
  async function confirm(check: RefreshCheck, accessToken: string): Promise<Identity> {
    const { metadata, spent, previous } = check;
    const { id_info: before = {}, idp_state: state } = previous;
    endpoint.assertAvailable(metadata);
    if (
      metadata.userinfo_endpoint === undefined ||
      connection.settings.refreshWithoutIdToken === "refuse"
    ) {
      connection.misconfigured({
        // Not "token": each sign-in, which has an ID token, would reset that endpoint, and the line
        // would repeat.
        endpoint: "userinfo",
        reason: "id_token_missing",
        message: ({ env }) =>
          "The provider's refresh responses have no ID token, so a session ends at its first refresh. " +
          `If the provider has a userinfo endpoint, set ${env("refreshWithoutIdToken")} to userinfo. Otherwise set IDP_SESSION_AUTO_REFRESH to false.`,
      });
      throw new ProviderRefusedError("id_token_missing");
    }
    const userinfo = await ofRefresh(check, accessToken, before.sub);
    const names = state.userinfo_claims ?? [];
    const exp = confirmedUntil(previous, spent);
    if (endpoint.isRequired)
      return {
        ...withAllOfUserinfo({ ...withoutUserinfo(before, names), exp }, userinfo),
        userinfo,
      };
    return { ...confirmedByUserinfo(userinfo, { previous: before, names, exp }), userinfo };
  }

  async function renew(check: RefreshCheck, claims: IdInfo): Promise<Identity> {
    const { metadata, spent, previous } = check;
    const { id_info: before = {}, idp_state: state } = previous;
    endpoint.assertAvailable(metadata);
    const userinfo = await ofRefresh(check, spent.accessToken ?? "", claims.sub);
    const { idInfo } = refreshedClaims(
      claims,
      withoutUserinfo(before, state.userinfo_claims ?? []),
      [],
    );
    return { ...withAllOfUserinfo(idInfo, userinfo), userinfo };
  }

  /** Calls userinfo for a refresh. If it fails, only this session may have to wait. */
  async function ofRefresh(
    { metadata, request, spent }: RefreshCheck,
    accessToken: string,
    sub: unknown,
  ): Promise<IdInfo> {
    const startedAt = connection.clock.monotonic();
    try {
      return await endpoint.callRequired(metadata, {
        token: { accessToken, dpop: spent.tokenType === "DPoP" ? spent.dpop : undefined },
        sub,
        signal: request.signal,
        consequence: "The refresh isn't finished. The session is kept.",
        backOff: {
          succeeded: () => {
            refreshes.responded("userinfo");
          },
          failed: (since, failure) =>
            refreshes.failed(request, since, { ...failure, endpoint: "userinfo" }),
        },
      });
    } catch (error) {
      if (!(error instanceof ProviderUnavailableError)) throw error;
      // The next refresh would get the same response.
      throw error.isMisconfiguration
        ? refreshes.verificationFailed(request, startedAt, error)
        : refreshes.withLogin(error);
    }
  }

  return { confirm, renew };
}
