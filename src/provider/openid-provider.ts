import { ProviderRefusedError, ProviderUnavailableError } from "../errors.js";
import { logLine } from "../events/log-lines.js";
import type { Provider, RefreshRequest } from "../ports/provider.js";
import { refreshedClaims } from "../record/claims-after-refresh.js";
import { credentialsToDict, type Identity, type SpentRefresh } from "../record/credentials.js";
import type { IdInfo } from "../record/identity.js";
import type { SessionRecord } from "../record/record.js";
import { epochSeconds } from "../clock.js";
import { tenantsOf } from "./allowed-tenants.js";
import { checkAudience, isNamedByScope, missingScopes, targetParameters } from "./api-audience.js";
import {
  assertSupported,
  authorizationParameters,
  loginScopes,
  refreshDoubt,
  withParameters,
} from "./authorization-request.js";
import { createRefreshBackOff } from "./back-off.js";
import { clientAuthentication } from "./client-authentication.js";
import { createDiscovery, type ProviderMetadata } from "./discovery.js";
import { doubtInWords, type Doubt } from "./doubts.js";
import {
  checkContinuity,
  checkNonce,
  checkProviderSession,
  verifyIdToken,
  type ExpectedClaims,
} from "./id-token.js";
import { createJwks } from "./jwks.js";
import { verifyLogoutToken } from "./logout-token.js";
import { logoutUrl } from "./logout-url.js";
import { createProviderConnection, type OpenIdProviderOptions } from "./provider-connection.js";
import { createPushedRequests } from "./pushed-requests.js";
import { createRevocationEndpoint } from "./revocation-endpoint.js";
import { createTokenEndpoint, expiryOf, type TokenResponse } from "./token-endpoint.js";
import { createUserinfoEndpoint } from "./userinfo-endpoint.js";

type CheckFlow = (claims: IdInfo, doubts: readonly Doubt[]) => void;

/** The access token of a response. */
type Bearer = Pick<SpentRefresh, "accessToken" | "isOtherType">;

/** Creates an OpenID provider's client. It sends no request before its first use. */
// eslint-disable-next-line max-lines-per-function -- A factory: small functions that share its variables.
export function createOpenIdProvider(options: OpenIdProviderOptions): Provider {
  const connection = createProviderConnection(options, clientAuthentication);
  const { settings, clock } = connection;
  const { targets = [] } = options;
  /** Undefined: the provider has one issuer. */
  const tenants = tenantsOf(settings);
  const discovery = createDiscovery(connection);
  const jwks = createJwks(connection, async () => (await discovery.current()).jwks_uri);
  const refreshes = createRefreshBackOff(clock, connection.random);
  const pushedRequests = createPushedRequests(connection);
  const tokenEndpoint = createTokenEndpoint(connection, refreshes);
  const userinfo = createUserinfoEndpoint(connection, refreshes);
  const revocation = createRevocationEndpoint(connection, discovery);
  /** The discovery document with which a login last brought a refresh token. */
  let refreshTokenCameWith: ProviderMetadata | undefined;

  function assertReadyToExchange(): void {
    tokenEndpoint.assertReadyToExchange();
    // A code is not spent if its ID token cannot be verified.
    jwks.assertReady();
    userinfo.assertReadyToSignIn();
  }

  function assertReadyToRefresh(session: string, api?: string): void {
    refreshes.assertReady(session, api);
    // Only the session's own tokens need the keys: a refresh for an API need not bring an ID token.
    if (api === undefined) jwks.assertReady();
  }

  /**
   * Where scopes name the resource, a request without a scope is for all resources of the login,
   * which the provider refuses.
   */
  function baseScope(metadata: ProviderMetadata): Readonly<Record<string, string>> {
    const isNamed = targets.length > 0 && isNamedByScope(settings.issuer);
    return isNamed ? { scope: loginScopes(settings, metadata).join(" ") } : {};
  }

  /** Verifies the ID token of a refresh. */
  function verifyNext(
    metadata: ProviderMetadata,
    spent: SpentRefresh,
    previous: SessionRecord,
    { signal }: RefreshRequest,
  ): Promise<IdInfo> {
    const check: CheckFlow = (claims, doubts) => {
      checkContinuity(claims, previous.id_info ?? {}, settings.clockTolerance, doubts);
    };
    return verify(metadata, spent, check, signal);
  }

  /**
   * Runs the checks of a refresh's response. If they fail because of this machine or of the
   * configuration, only this session waits, because each attempt spends another refresh token.
   */
  async function alone<Result>(
    request: RefreshRequest,
    checks: () => Promise<Result>,
  ): Promise<Result> {
    const startedAt = clock.monotonic();
    try {
      return await checks();
    } catch (error) {
      if (!(error instanceof ProviderUnavailableError)) throw error;
      throw refreshes.verificationFailed(request, startedAt, error);
    }
  }

  /** @throws ProviderUnavailableError there is no bearer token */
  function bearerToken({ accessToken, isOtherType = false }: Bearer): string {
    if (accessToken !== undefined) return accessToken;
    if (!isOtherType) throw new ProviderUnavailableError("access_token_missing");
    throw connection.doubted({
      endpoint: "token",
      reason: "token_type",
      message:
        "The token endpoint issues access tokens of another type than Bearer, which idpauth doesn't support. Have the provider issue bearer tokens to this client.",
    });
  }

  async function verify(
    metadata: ProviderMetadata,
    tokens: Bearer & Pick<TokenResponse, "idToken">,
    checkFlow: CheckFlow,
    signal?: AbortSignal,
  ): Promise<IdInfo> {
    const accessToken = bearerToken(tokens);
    const { idToken } = tokens;
    if (idToken === undefined) throw new ProviderRefusedError("id_token_missing");
    const expected = {
      ...expectedClaims(),
      algorithms: metadata.id_token_signing_alg_values_supported,
      newerAlgorithms: async () =>
        (await discovery.renewed(signal)).id_token_signing_alg_values_supported,
      accessToken,
    };
    try {
      const { claims, doubts } = await verifyIdToken(idToken, expected, jwks, checkFlow, signal);
      assertUndoubted("id_token", doubts);
      // Not before: a token response with an unusable ID token does not show that the configuration
      // is correct.
      connection.resolved("token");
      return claims;
    } catch (error) {
      if (!(error instanceof ProviderUnavailableError) || error.reason !== "id_token_encrypted")
        throw error;
      throw connection.misconfigured({
        endpoint: "token",
        reason: error.reason,
        message:
          "The provider encrypts its ID tokens, which idpauth doesn't support. Have the provider only sign them.",
      });
    }
  }

  /** @throws ProviderUnavailableError the token is verified, and can't be accepted here */
  function assertUndoubted(kind: "id_token" | "logout_token", doubts: readonly Doubt[]): void {
    const [doubt] = doubts;
    if (doubt === undefined) return;
    const message = doubtInWords(doubt, settings);
    throw connection.doubted({ endpoint: "token", reason: `${kind}_${doubt.reason}`, message });
  }

  /** Returns the values that idpauth expects in ID tokens and logout tokens. */
  function expectedClaims(): ExpectedClaims {
    const { issuer, clientId, trustedAudiences, clockTolerance } = settings;
    return {
      issuer,
      tenants,
      clientId,
      trustedAudiences,
      clockTolerance,
      now: epochSeconds(clock),
    };
  }

  /** The startup checks report the same of an explicit SCOPE. */
  function warnOfScopes(metadata: ProviderMetadata): void {
    if (!settings.scopeIsDefault || metadata.scopes_supported === undefined) return;
    if (refreshDoubt(settings, metadata) !== "scope") return;
    connection.events.logOnce({
      level: "warn",
      code: "W004",
      message:
        "IDP_SESSION_AUTO_REFRESH is on, but the provider doesn't advertise the scope offline_access. You might not get a refresh token.",
    });
  }

  /** Takes back W004, and W103 of `idpauth check --live`. The default log shows only W004. */
  function refreshTokenCame(metadata: ProviderMetadata): void {
    // A later discovery document may raise another doubt.
    if (metadata === refreshTokenCameWith) return;
    refreshTokenCameWith = metadata;
    const doubt = refreshDoubt(settings, metadata);
    if (doubt !== undefined)
      connection.events.logOnce({
        ...logLine("refresh_token_given"),
        level: doubt === "scope" ? "warn" : "info",
      });
  }

  return {
    assertReadyToExchange,
    assertReadyToRefresh,
    async facts() {
      const metadata = await discovery.current();
      const isResponseIssuer = tenants?.isResponseIssuer;
      return {
        issuer: metadata.issuer,
        sendsIss: metadata.authorization_response_iss_parameter_supported === true,
        ...(isResponseIssuer && { isResponseIssuer }),
      };
    },

    async authorizationUrl(request) {
      const metadata = await discovery.current();
      assertSupported(metadata, connection);
      userinfo.assertAvailable(metadata);
      warnOfScopes(metadata);
      const endpoint = pushedRequests.endpointOf(metadata);
      const parameters = await authorizationParameters(settings, metadata, request, targets);
      const plain = withParameters(metadata.authorization_endpoint, parameters);
      const isSilent = plain.searchParams.get("prompt") === "none";
      if (endpoint === undefined) return { url: plain.href, isSilent };
      const { requestUri, expiresIn } = await pushedRequests.push(
        metadata,
        endpoint,
        parameters,
        request,
      );
      const pushed = { client_id: settings.clientId, request_uri: requestUri };
      return {
        url: withParameters(metadata.authorization_endpoint, pushed).href,
        isSilent,
        expiresIn,
      };
    },

    async exchange(exchange) {
      const { code, redirectUri, nonce, dropped } = exchange;
      if (code === "") throw new ProviderRefusedError("code_missing");
      // It comes from a stored record, which is validated like any other input.
      if (!URL.canParse(redirectUri)) throw new ProviderRefusedError("redirect_uri");
      const metadata = await discovery.current();
      userinfo.assertAvailable(metadata);
      assertReadyToExchange();
      const tokens = await tokenEndpoint.exchange(metadata, exchange, baseScope(metadata));
      const receivedAt = epochSeconds(clock);
      const { accessToken = "", refreshToken, scopes, expiresIn } = tokens;
      const verified = verify(metadata, tokens, (claims) => {
        checkNonce(claims, nonce);
        checkProviderSession(claims, receivedAt);
      });
      if (refreshToken !== undefined) refreshTokenCame(metadata);
      const identity = await verified
        .then((claims) => {
          const { backchannelLogout, frontchannelLogout } = settings;
          if ((backchannelLogout || frontchannelLogout) && claims["sid"] === undefined)
            connection.events.logOnce(logLine("sid_missing"));
          return userinfo.complete(metadata, claims, accessToken);
        })
        .catch((error: unknown) => {
          dropped?.({ accessToken: tokens.accessToken, refreshToken });
          throw error;
        });
      return {
        credentials: credentialsToDict({
          token: accessToken,
          refreshToken,
          tokenUri: metadata.token_endpoint,
          clientId: settings.clientId,
          clientSecret: settings.clientSecret,
          scopes: scopes ?? loginScopes(settings, metadata),
        }),
        ...identity,
        idToken: tokens.idToken ?? "",
        receivedAt,
        accessTokenExpiresAt: expiryOf(receivedAt, expiresIn),
      };
    },

    async refresh(request) {
      const metadata = await discovery.current(request.signal);
      userinfo.assertAvailable(metadata);
      const { target } = request;
      assertReadyToRefresh(request.session, target?.api);
      const parameters =
        target === undefined ? baseScope(metadata) : targetParameters(target, settings.issuer);
      const { expiresIn, ...tokens } = await tokenEndpoint.refresh(metadata, request, parameters);
      if (tokens.refreshToken !== undefined) refreshTokenCame(metadata);
      const receivedAt = epochSeconds(clock);
      return { ...tokens, receivedAt, accessTokenExpiresAt: expiryOf(receivedAt, expiresIn) };
    },

    async checkApiToken(spent, previous, request) {
      const { target } = request;
      if (target === undefined) return;
      await alone(request, async () => {
        bearerToken(spent);
        checkAudience(spent, target, settings.issuer);
        if (spent.idToken !== undefined)
          await verifyNext(await discovery.current(request.signal), spent, previous, request);
      });
      const missing = missingScopes(target, spent.scopes);
      const text = `The provider granted the token for the API ${target.api} without these scopes: ${missing.join(" ")}.`;
      if (missing.length > 0) connection.events.logOnce(logLine("api_scopes_missing", text));
      refreshes.succeeded(request);
    },

    async verifyRefreshed(spent, previous, request) {
      const metadata = await discovery.current(request.signal);
      const before = previous.id_info ?? {};
      // The tenant of a session may not be allowed any more.
      if (tenants !== undefined && before.iss !== tenants.issuerFor(before))
        throw new ProviderRefusedError("id_token_iss");
      const verifyNow = async (): Promise<Identity> => {
        if (spent.idToken === undefined) {
          const accessToken = await alone(request, async () => bearerToken(spent));
          return userinfo.confirm(metadata, { ...spent, accessToken }, previous, request);
        }
        const claims = await alone(request, () => verifyNext(metadata, spent, previous, request));
        if (userinfo.isRequired) return userinfo.renew(metadata, claims, spent, previous, request);
        return refreshedClaims(claims, before, previous.idp_state.userinfo_claims ?? []);
      };
      const verified = await verifyNow();
      refreshes.succeeded(request);
      return verified;
    },

    async logoutUrl(request) {
      return logoutUrl(settings, await discovery.current(), request);
    },

    async verifyLogoutToken(token) {
      const algorithms = async () =>
        (await discovery.current()).id_token_signing_alg_values_supported;
      const { allowUntypedLogoutTokens: allowUntyped } = settings;
      const expected = { ...expectedClaims(), allowUntyped, algorithms };
      const { logout, doubts } = await verifyLogoutToken(token, expected, jwks);
      try {
        assertUndoubted("logout_token", doubts);
      } catch (error) {
        // The provider is told: the logout couldn't be carried out.
        throw new ProviderRefusedError((error as ProviderUnavailableError).reason);
      }
      return logout;
    },

    revoke: revocation.revoke,
  };
}
