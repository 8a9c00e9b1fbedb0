import { ProviderRefusedError, ProviderUnavailableError } from "../errors.js";
import {
  confirmedByUserinfo,
  confirmedUntil,
  refreshedClaims,
} from "../record/claims-after-refresh.js";
import type { Identity } from "../record/credentials.js";
import type { IdInfo } from "../record/identity.js";
import { lacksIdentity, withAllOfUserinfo, withoutUserinfo } from "../record/userinfo-claims.js";
import { createSignInBackOff, type FailureListener, type RefreshBackOff } from "./back-off.js";
import { jsonObject, type ProviderResponse } from "./http-to-provider.js";
import { MAX_ID_TOKEN_LENGTH } from "./id-token.js";
import type { ProviderConnection } from "./provider-connection.js";
import type { ProviderMetadata } from "./provider-metadata.js";
import type { RefreshCheck } from "./token-verification.js";

/** One call that cannot continue without userinfo. */
interface RequiredCall {
  readonly accessToken: string;
  /** The subject of the ID token. */
  readonly sub: unknown;
  readonly signal?: AbortSignal;
  /** Completes the log line of an outage. */
  readonly consequence: string;
  /** Starts the back-off of an outage. @returns seconds */
  readonly failed: FailureListener["failed"];
}

/**
 * What userinfo is for: it completes a sign-in, and it confirms a refresh whose response has no ID
 * token. With `IDP_USERINFO=always` it also supplies claims at every sign-in and every refresh, and
 * must respond.
 */
export interface UserinfoEndpoint {
  /** `IDP_USERINFO=always`. */
  readonly isRequired: boolean;
  /**
   * @throws ProviderUnavailableError userinfo is required, and the provider has no such endpoint
   */
  assertAvailable(metadata: ProviderMetadata): void;
  /**
   * @throws ProviderUnavailableError userinfo is required, and its requests at sign-ins back off
   */
  assertReadyToSignIn(): void;
  /**
   * Adds userinfo's claims to those of a sign-in's ID token: always if userinfo is required,
   * otherwise if the ID token has no claim about the user (OpenID Connect Core section 5.4).
   *
   * @throws ProviderUnavailableError, ProviderRefusedError only if userinfo is required
   */
  complete(metadata: ProviderMetadata, claims: IdInfo, accessToken: string): Promise<Identity>;
  /**
   * Handles a refresh response without an ID token (Core section 12.2): userinfo must confirm the
   * same user.
   */
  confirm(check: RefreshCheck, accessToken: string): Promise<Identity>;
  /**
   * Adds userinfo's claims to those of a refreshed ID token. Its earlier claims are replaced or
   * removed.
   */
  renew(check: RefreshCheck, claims: IdInfo): Promise<Identity>;
}

export function createUserinfoEndpoint(
  connection: ProviderConnection,
  refreshes: RefreshBackOff,
): UserinfoEndpoint {
  const isRequired = connection.settings.userinfo === "always";
  /** Of sign-ins that can do without userinfo. */
  const optional = connection.backOff();
  /** Of sign-ins that need userinfo. */
  const required = createSignInBackOff(connection.clock, connection.random);

  function assertAvailable({ userinfo_endpoint: endpoint }: ProviderMetadata): void {
    if (!isRequired || endpoint !== undefined) return;
    throw connection.misconfigured({
      endpoint: "userinfo",
      reason: "userinfo_endpoint_missing",
      message:
        "IDP_USERINFO is always, but the discovery document has no usable userinfo_endpoint. Set IDP_USERINFO to when-needed, or name " +
        "the endpoint in IDP_PROVIDER_METADATA.",
    });
  }

  function assertReadyToSignIn(): void {
    if (isRequired) required.assertReady();
  }

  async function complete(
    metadata: ProviderMetadata,
    claims: IdInfo,
    accessToken: string,
  ): Promise<Identity> {
    return isRequired
      ? completeAlways(metadata, claims, accessToken)
      : completeIfNeeded(metadata, claims, accessToken);
  }

  async function completeAlways(
    metadata: ProviderMetadata,
    claims: IdInfo,
    accessToken: string,
  ): Promise<Identity> {
    const userinfo = await callRequired(metadata, {
      accessToken,
      sub: claims.sub,
      consequence: "The sign-in stops, since IDP_USERINFO is always.",
      failed: required.failed,
    });
    required.succeeded();
    return { ...withAllOfUserinfo(claims, userinfo), userinfo };
  }

  async function completeIfNeeded(
    { userinfo_endpoint: url }: ProviderMetadata,
    claims: IdInfo,
    accessToken: string,
  ): Promise<Identity> {
    if (url !== undefined && lacksIdentity(claims)) {
      try {
        const response = await connection.callBestEffort("userinfo", optional, () =>
          send(url, accessToken),
        );
        const userinfo = userinfoOf(response, claims.sub);
        if (userinfo.kind === "claims")
          return { ...withAllOfUserinfo(claims, userinfo.claims), userinfo: userinfo.claims };
        if (userinfo.kind === "signed") signed();
        else
          connection.warn(
            "userinfo",
            "The userinfo response can't be used. The sign-in continues without it.",
            {
              status: response.status,
            },
          );
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

  async function confirm(check: RefreshCheck, accessToken: string): Promise<Identity> {
    const { metadata, spent, previous } = check;
    const { id_info: before = {}, idp_state: state } = previous;
    assertAvailable(metadata);
    if (
      metadata.userinfo_endpoint === undefined ||
      connection.settings.refreshWithoutIdToken === "refuse"
    ) {
      connection.misconfigured({
        // Not "token": each sign-in, which has an ID token, would reset that endpoint, and the line
        // would repeat.
        endpoint: "userinfo",
        reason: "id_token_missing",
        message:
          "The provider's refresh responses have no ID token, so a session ends at its first refresh. " +
          "If the provider has a userinfo endpoint, set IDP_REFRESH_WITHOUT_ID_TOKEN to userinfo. Otherwise set IDP_SESSION_AUTO_REFRESH to false.",
      });
      throw new ProviderRefusedError("id_token_missing");
    }
    const userinfo = await ofRefresh(check, accessToken, before.sub);
    const names = state.userinfo_claims ?? [];
    const exp = confirmedUntil(previous, spent);
    if (isRequired)
      return {
        ...withAllOfUserinfo({ ...withoutUserinfo(before, names), exp }, userinfo),
        userinfo,
      };
    return { ...confirmedByUserinfo(userinfo, { previous: before, names, exp }), userinfo };
  }

  async function renew(check: RefreshCheck, claims: IdInfo): Promise<Identity> {
    const { metadata, spent, previous } = check;
    const { id_info: before = {}, idp_state: state } = previous;
    assertAvailable(metadata);
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
    { metadata, request }: RefreshCheck,
    accessToken: string,
    sub: unknown,
  ): Promise<IdInfo> {
    const startedAt = connection.clock.monotonic();
    try {
      return await callRequired(metadata, {
        accessToken,
        sub,
        signal: request.signal,
        consequence: "The refresh isn't finished. The session is kept.",
        failed: (since, failure) => refreshes.failed(request, since, failure),
      });
    } catch (error) {
      if (!(error instanceof ProviderUnavailableError)) throw error;
      // The next refresh would get the same response.
      throw error.isMisconfiguration
        ? refreshes.verificationFailed(request, startedAt, error)
        : refreshes.withLogin(error);
    }
  }

  /**
   * Calls userinfo, which must respond.
   *
   * @throws ProviderRefusedError the claims are about another user
   * @throws ProviderUnavailableError also for a signed response, and if the new access token is not
   *   accepted: an operator must act
   */
  async function callRequired(
    { userinfo_endpoint: url = "" }: ProviderMetadata,
    { accessToken, sub, signal, consequence, failed }: RequiredCall,
  ): Promise<IdInfo> {
    const userinfo = await connection.call({
      endpoint: "userinfo",
      send: () => send(url, accessToken, signal),
      read: (response) => {
        const read = userinfoOf(response, sub);
        if (read.kind === "outage") throw new ProviderUnavailableError(read.reason);
        return read;
      },
      backOff: {
        succeeded: () => undefined,
        failed: (startedAt, failure) => {
          connection.warn(
            "userinfo",
            `The userinfo endpoint gave no usable response. ${consequence}`,
            { reason: failure.reason },
          );
          return failed(startedAt, failure);
        },
      },
    });
    if (userinfo.kind === "refused") throw new ProviderRefusedError(userinfo.reason);
    if (userinfo.kind === "signed") throw signed();
    if (userinfo.kind === "token_refused") throw tokenRefused();
    if (isRequired) connection.resolved("userinfo");
    return userinfo.claims;
  }

  /**
   * Requests the claims of the access token's user (OpenID Connect Core section 5.3).
   * @throws ProviderUnavailableError no response
   */
  function send(url: string, accessToken: string, signal?: AbortSignal): Promise<ProviderResponse> {
    const headers = { accept: "application/json", authorization: `Bearer ${accessToken}` };
    return connection.http.send(url, { method: "GET", headers }, signal);
  }

  /** Reports that the endpoint doesn't accept a token that has just come. @returns the error */
  function tokenRefused(): ProviderUnavailableError {
    return connection.doubted({
      endpoint: "userinfo",
      reason: "userinfo_refused",
      message:
        "The userinfo endpoint doesn't accept (401) an access token that the token endpoint has just issued. Compare the scopes, and the audience of access tokens, with what the provider's userinfo endpoint requires.",
    });
  }

  /** Reports a signed response. @returns the error to throw where userinfo is required */
  function signed(): ProviderUnavailableError {
    return connection.misconfigured({
      endpoint: "userinfo",
      reason: "userinfo_signed",
      message:
        "The userinfo endpoint sends a signed response (application/jwt), which idpauth doesn't support. Have the provider send JSON.",
    });
  }

  return { isRequired, assertAvailable, assertReadyToSignIn, complete, confirm, renew };
}

/** The meaning of a userinfo response. `reason` is a stable word that is safe to log. */
type Userinfo =
  | { readonly kind: "claims"; readonly claims: IdInfo }
  /** A JWT (OpenID Connect Core section 5.3.2), which is not supported. */
  | { readonly kind: "signed" }
  /** The access token is not accepted (RFC 6750 section 3.1). */
  | { readonly kind: "token_refused" }
  /** The response is about another user. */
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "outage"; readonly reason: string };

/**
 * Returns the meaning of a userinfo response. Pure.
 * @param sub the ID token's subject; claims about another user are refused
 */
function userinfoOf(response: ProviderResponse, sub: unknown): Userinfo {
  const { status, headers } = response;
  if (/^\s*application\/jwt\b/i.test(headers.get("content-type") ?? "")) return { kind: "signed" };
  if (status === 401) return { kind: "token_refused" };
  // All claims may be stored, as those of an ID token are.
  if (response.text.length > MAX_ID_TOKEN_LENGTH) return { kind: "outage", reason: "too_large" };
  const claims = status === 200 ? jsonObject(response) : undefined;
  if (claims === undefined)
    return { kind: "outage", reason: status === 200 ? "not_json" : `http_${String(status)}` };
  // Without a `sub`, it is about nobody: a maintenance page in JSON, for example.
  if (typeof claims["sub"] !== "string" || claims["sub"] === "")
    return { kind: "outage", reason: "userinfo_sub_missing" };
  return claims["sub"] === sub
    ? { kind: "claims", claims }
    : { kind: "refused", reason: "userinfo_sub" };
}
