import { protectedResourceRequest } from "oauth4webapi";
import { textWith, type SettingText } from "../config/setting-names.js";
import { ProviderRefusedError, ProviderUnavailableError } from "../errors.js";
import { demandsDpopNonce } from "../http/dpop-challenge.js";
import type { DpopBinding } from "../record/dpop.js";
import type { IdInfo } from "../record/identity.js";
import type { FailureListener } from "./back-off.js";
import { jsonObject, type ProviderResponse } from "./http-to-provider.js";
import { MAX_ID_TOKEN_LENGTH } from "./id-token.js";
import type { ProviderConnection } from "./provider-connection.js";
import type { ProviderMetadata } from "./provider-metadata.js";
import { USE_DPOP_NONCE } from "./response-meaning.js";

/** The access token of a request to userinfo. */
export interface UserinfoToken {
  readonly accessToken: string;
  /** What it is bound to. Undefined: it is a bearer token. */
  readonly dpop: DpopBinding | undefined;
}

/** One call that cannot continue without userinfo. */
export interface RequiredCall {
  readonly token: UserinfoToken;
  /** The subject of the ID token. */
  readonly sub: unknown;
  readonly signal?: AbortSignal;
  /** Completes the log line of an outage. */
  readonly consequence: SettingText;
  readonly backOff: FailureListener;
}

/** The userinfo endpoint (OpenID Connect Core section 5.3). */
export interface UserinfoEndpoint {
  /** `IDP_USERINFO=always`: it supplies claims at every sign-in and every refresh. */
  readonly isRequired: boolean;
  /**
   * @throws ProviderUnavailableError userinfo is required, and the provider has no such endpoint
   */
  assertAvailable(metadata: ProviderMetadata): void;
  /**
   * Requests the claims of the access token's user.
   * @throws ProviderUnavailableError no response
   */
  send(url: string, token: UserinfoToken, signal?: AbortSignal): Promise<ProviderResponse>;
  /**
   * Calls userinfo, which must respond.
   *
   * @throws ProviderRefusedError the claims are about another user
   * @throws ProviderUnavailableError also for a signed response, and if the new access token is not
   *   accepted: an operator must act
   */
  callRequired(metadata: ProviderMetadata, call: RequiredCall): Promise<IdInfo>;
  /** Reports a signed response. @returns the error to throw where userinfo is required */
  signed(): ProviderUnavailableError;
}

export function createUserinfoEndpoint(connection: ProviderConnection): UserinfoEndpoint {
  const isRequired = connection.settings.userinfo === "always";

  function assertAvailable({ userinfo_endpoint: endpoint }: ProviderMetadata): void {
    if (!isRequired || endpoint !== undefined) return;
    throw connection.misconfigured({
      endpoint: "userinfo",
      reason: "userinfo_endpoint_missing",
      message: ({ env }) =>
        `${env("userinfo")} is always, but the discovery document has no usable userinfo_endpoint. Set ${env("userinfo")} to when-needed, or name the endpoint in ${env("providerMetadata")}.`,
    });
  }

  async function callRequired(
    { userinfo_endpoint: url = "" }: ProviderMetadata,
    { token, sub, signal, consequence, backOff }: RequiredCall,
  ): Promise<IdInfo> {
    const userinfo = await connection.call({
      endpoint: "userinfo",
      send: () => send(url, token, signal),
      read: (response) => {
        const read = userinfoOf(response, sub);
        if (read.kind === "outage") throw new ProviderUnavailableError(read.reason);
        return read;
      },
      backOff: {
        succeeded() {
          backOff.succeeded();
        },
        failed: (startedAt, failure) => {
          connection.warn(
            "userinfo",
            (names) =>
              `The userinfo endpoint gave no usable response. ${textWith(names, consequence)}`,
            { reason: failure.reason },
          );
          return backOff.failed(startedAt, failure);
        },
      },
    });
    if (userinfo.kind === "refused") throw new ProviderRefusedError(userinfo.reason);
    if (userinfo.kind === "signed") throw signed();
    if (userinfo.kind === "token_refused") throw tokenRefused();
    if (isRequired) connection.resolved("userinfo");
    return userinfo.claims;
  }

  function send(
    url: string,
    { accessToken, dpop }: UserinfoToken,
    signal?: AbortSignal,
  ): Promise<ProviderResponse> {
    const accept = { accept: "application/json" };
    if (dpop === undefined) {
      const headers = { ...accept, authorization: `Bearer ${accessToken}` };
      return connection.clientHttp.send(url, { method: "GET", headers }, signal);
    }
    const address = new URL(url);
    return connection.sendBuilt(
      url,
      (options) =>
        protectedResourceRequest(accessToken, "GET", address, new Headers(accept), null, options),
      // The session's nonce is one of the token endpoint, which may be at another origin.
      { signal, dpop: { key: dpop.key } },
    );
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

  function signed(): ProviderUnavailableError {
    return connection.misconfigured({
      endpoint: "userinfo",
      reason: "userinfo_signed",
      message:
        "The userinfo endpoint sends a signed response (application/jwt), which idpauth doesn't support. Have the provider send JSON.",
    });
  }

  return { isRequired, assertAvailable, send, callRequired, signed };
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
export function userinfoOf(response: ProviderResponse, sub: unknown): Userinfo {
  const { status, headers } = response;
  if (/^\s*application\/jwt\b/i.test(headers.get("content-type") ?? "")) return { kind: "signed" };
  // The request has been repeated with a nonce already.
  if (status === 401 && demandsDpopNonce(headers.get("www-authenticate")))
    return { kind: "outage", reason: USE_DPOP_NONCE };
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
