import { isEntraIssuer } from "../config/issuers.js";
import { ProviderRefusedError, ProviderUnavailableError } from "../errors.js";
import { logLine } from "../events/log-lines.js";
import type {
  AuthorizationAddress,
  AuthorizationRequest,
  CodeExchange,
  LogoutRequest,
  LogoutToken,
  Provider,
  ProviderFacts,
  RefreshRequest,
  TokenTarget,
} from "../ports/provider.js";
import { credentialsToDict, type SignIn, type SpentRefresh, type VerifiedRefresh } from "../record/credentials.js";
import type { IdInfo } from "../record/identity.js";
import type { SessionRecord } from "../record/record.js";
import { epochSeconds, type Clock } from "../clock.js";
import { tenantsOf, type Tenants } from "./allowed-tenants.js";
import { checkAudience, missingScopes, targetParameters } from "./api-tokens.js";
import { assertSupported, authorizationParameters, loginScopes, refreshDoubt, withParameters } from "./authorization-request.js";
import { RefreshBackOff } from "./back-off.js";
import { clientAuthentication } from "./client-authentication.js";
import { createDiscovery, type Discovery, type ProviderMetadata } from "./discovery.js";
import { checkContinuity, checkNonce, checkProviderSession, verifyIdToken, type ExpectedClaims } from "./id-token.js";
import { refreshedClaims } from "./identity-claims.js";
import { createJwks, type Jwks } from "./jwks.js";
import { verifyLogoutToken } from "./logout-token.js";
import { logoutUrl } from "./logout-url.js";
import { ProviderConnection, type OpenIdProviderOptions } from "./provider-connection.js";
import type { ProviderSettings } from "./provider-settings.js";
import { PushedRequests } from "./pushed-requests.js";
import { RevocationEndpoint } from "./revocation-endpoint.js";
import { expiryOf, TokenEndpoint, type TokenResponse } from "./token-endpoint.js";
import { UserinfoEndpoint } from "./userinfo-endpoint.js";

/** Creates an OpenID provider's client. It sends no request before its first use. */
export function createOpenIdProvider(options: OpenIdProviderOptions): Provider {
  return new OpenIdProvider(options);
}

class OpenIdProvider implements Provider {
  readonly #connection: ProviderConnection;
  readonly #settings: ProviderSettings;
  readonly #targets: readonly TokenTarget[];
  readonly #clock: Clock;
  /** Undefined: the provider has one issuer. */
  readonly #tenants: Tenants | undefined;
  readonly #discovery: Discovery;
  readonly #jwks: Jwks;
  readonly #refreshes: RefreshBackOff;
  readonly #pushed: PushedRequests;
  readonly #tokens: TokenEndpoint;
  readonly #userinfo: UserinfoEndpoint;
  readonly #revocation: RevocationEndpoint;
  /** The discovery document with which a login last brought a refresh token. */
  #refreshTokenCameWith: ProviderMetadata | undefined;

  constructor(options: OpenIdProviderOptions) {
    const connection = new ProviderConnection(options, clientAuthentication);
    this.#connection = connection;
    this.#settings = connection.settings;
    this.#targets = options.targets ?? [];
    this.#clock = connection.clock;
    this.#tenants = tenantsOf(connection.settings);
    this.#discovery = createDiscovery(connection);
    this.#jwks = createJwks(connection, async () => (await this.#discovery.current()).jwks_uri);
    this.#refreshes = new RefreshBackOff(connection.clock, connection.random);
    this.#pushed = new PushedRequests(connection);
    this.#tokens = new TokenEndpoint(connection, this.#refreshes);
    this.#userinfo = new UserinfoEndpoint(connection, this.#refreshes);
    this.#revocation = new RevocationEndpoint(connection, this.#discovery);
  }

  async facts(): Promise<ProviderFacts> {
    const metadata = await this.#discovery.current();
    const isResponseIssuer = this.#tenants?.isResponseIssuer;
    return {
      issuer: metadata.issuer,
      sendsIss: metadata.authorization_response_iss_parameter_supported === true,
      ...(isResponseIssuer && { isResponseIssuer }),
    };
  }

  async authorizationUrl(request: AuthorizationRequest): Promise<AuthorizationAddress> {
    const metadata = await this.#discovery.current();
    assertSupported(metadata, this.#connection);
    this.#userinfo.assertAvailable(metadata);
    this.#warnOfScopes(metadata);
    const endpoint = this.#pushed.endpointOf(metadata);
    const parameters = await authorizationParameters(this.#settings, metadata, request, this.#targets);
    const plain = withParameters(metadata.authorization_endpoint, parameters);
    const isSilent = plain.searchParams.get("prompt") === "none";
    if (endpoint === undefined) return { url: plain.href, isSilent };
    const { requestUri, expiresIn } = await this.#pushed.push(metadata, endpoint, parameters, request.takeSlot);
    const pushed = { client_id: this.#settings.clientId, request_uri: requestUri };
    return { url: withParameters(metadata.authorization_endpoint, pushed).href, isSilent, expiresIn };
  }

  assertReadyToExchange(): void {
    this.#tokens.assertReadyToExchange();
    // A code is not spent if its ID token cannot be verified.
    this.#jwks.assertReady();
    this.#userinfo.assertReadyToSignIn();
  }

  assertReadyToRefresh(session: string): void {
    this.#refreshes.assertReady(session);
    this.#jwks.assertReady();
  }

  async exchange(exchange: CodeExchange): Promise<SignIn> {
    const { code, redirectUri, nonce, dropped } = exchange;
    if (code === "") throw new ProviderRefusedError("code_missing");
    // It comes from a stored record, which is validated like any other input.
    if (!URL.canParse(redirectUri)) throw new ProviderRefusedError("redirect_uri");
    const metadata = await this.#discovery.current();
    this.#userinfo.assertAvailable(metadata);
    this.assertReadyToExchange();
    const tokens = await this.#tokens.exchange(metadata, exchange, this.#baseScope(metadata));
    const receivedAt = epochSeconds(this.#clock);
    const { accessToken = "", refreshToken, scopes, expiresIn } = tokens;
    const verified = this.#verify(metadata, tokens, (claims) => {
      checkNonce(claims, nonce);
      checkProviderSession(claims, receivedAt);
    });
    if (refreshToken !== undefined) this.#refreshTokenCame(metadata);
    const identity = await verified
      .then((claims) => {
        const { backchannelLogout, frontchannelLogout } = this.#settings;
        if ((backchannelLogout || frontchannelLogout) && claims["sid"] === undefined)
          this.#connection.events.logOnce(logLine("sid_missing"));
        return this.#userinfo.complete(metadata, claims, accessToken);
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
        clientId: this.#settings.clientId,
        clientSecret: this.#settings.clientSecret,
        scopes: scopes ?? loginScopes(this.#settings, metadata),
      }),
      ...identity,
      idToken: tokens.idToken ?? "",
      receivedAt,
      accessTokenExpiresAt: expiryOf(receivedAt, expiresIn),
    };
  }

  async refresh(request: RefreshRequest): Promise<SpentRefresh> {
    const metadata = await this.#discovery.current(request.signal);
    this.#userinfo.assertAvailable(metadata);
    this.assertReadyToRefresh(request.session);
    const { expiresIn, ...tokens } = await this.#tokens.refresh(metadata, request, this.#refreshParameters(metadata, request));
    if (tokens.refreshToken !== undefined) this.#refreshTokenCame(metadata);
    const receivedAt = epochSeconds(this.#clock);
    return { ...tokens, receivedAt, accessTokenExpiresAt: expiryOf(receivedAt, expiresIn) };
  }

  #refreshParameters(metadata: ProviderMetadata, { target }: RefreshRequest): Readonly<Record<string, string>> {
    return target === undefined ? this.#baseScope(metadata) : targetParameters(target, this.#settings.issuer);
  }

  /** At Entra ID, a request without a scope is for all resources of the login, which it refuses. */
  #baseScope(metadata: ProviderMetadata): Readonly<Record<string, string>> {
    const isNamed = this.#targets.length > 0 && isEntraIssuer(this.#settings.issuer);
    return isNamed ? { scope: loginScopes(this.#settings, metadata).join(" ") } : {};
  }

  async checkApiToken(spent: SpentRefresh, previous: SessionRecord, request: RefreshRequest): Promise<void> {
    const { target } = request;
    if (target === undefined) return;
    checkAudience(spent, target, this.#settings.issuer);
    const missing = missingScopes(target, spent.scopes);
    const text = `The provider granted the token for the API ${target.api} without these scopes: ${missing.join(" ")}.`;
    if (missing.length > 0) this.#connection.events.logOnce(logLine("api_scopes_missing", text));
    if (spent.idToken !== undefined) await this.#verifyNext(await this.#discovery.current(request.signal), spent, previous, request);
    this.#refreshes.succeeded(request.session);
  }

  async verifyRefreshed(spent: SpentRefresh, previous: SessionRecord, request: RefreshRequest): Promise<VerifiedRefresh> {
    const metadata = await this.#discovery.current(request.signal);
    const before = previous.id_info ?? {};
    // The tenant of a session may not be allowed any more.
    if (this.#tenants !== undefined && before.iss !== this.#tenants.issuerFor(before)) throw new ProviderRefusedError("id_token_iss");
    const verified = await this.#verifiedRefresh(metadata, spent, previous, request);
    this.#refreshes.succeeded(request.session);
    return verified;
  }

  async #verifiedRefresh(
    metadata: ProviderMetadata,
    spent: SpentRefresh,
    previous: SessionRecord,
    request: RefreshRequest,
  ): Promise<VerifiedRefresh> {
    if (spent.idToken === undefined) return this.#userinfo.confirm(metadata, spent, previous, request);
    const claims = await this.#verifyNext(metadata, spent, previous, request);
    if (this.#userinfo.isRequired) return this.#userinfo.renew(metadata, claims, spent, previous, request);
    return refreshedClaims(claims, previous.id_info ?? {}, previous.idp_state.userinfo_claims ?? []);
  }

  /** Verifies the ID token of a refresh. */
  #verifyNext(metadata: ProviderMetadata, spent: SpentRefresh, previous: SessionRecord, request: RefreshRequest): Promise<IdInfo> {
    const startedAt = this.#clock.monotonic();
    const check = (claims: IdInfo) => {
      checkContinuity(claims, previous.id_info ?? {}, this.#settings.clockTolerance);
    };
    return this.#verify(metadata, spent, check, request.signal).catch((error: unknown) => {
      if (error instanceof ProviderUnavailableError) throw this.#refreshes.verificationFailed(request.session, startedAt, error);
      throw error;
    });
  }

  async logoutUrl(request: LogoutRequest): Promise<string | undefined> {
    return logoutUrl(this.#settings, await this.#discovery.current(), request);
  }

  async verifyLogoutToken(token: string): Promise<LogoutToken> {
    const algorithms = async () => (await this.#discovery.current()).id_token_signing_alg_values_supported;
    const { allowUntypedLogoutTokens: allowUntyped } = this.#settings;
    return verifyLogoutToken(token, { ...this.#expected(), allowUntyped, algorithms }, this.#jwks);
  }

  revoke(token: string, hint: "refresh_token" | "access_token"): Promise<boolean> {
    return this.#revocation.revoke(token, hint);
  }

  async #verify(
    metadata: ProviderMetadata,
    { accessToken, idToken }: Pick<TokenResponse, "accessToken" | "idToken">,
    checkFlow: (claims: IdInfo) => void,
    signal?: AbortSignal,
  ): Promise<IdInfo> {
    if (accessToken === undefined) throw new ProviderRefusedError("access_token_missing");
    if (idToken === undefined) throw new ProviderRefusedError("id_token_missing");
    const expected = { ...this.#expected(), algorithms: metadata.id_token_signing_alg_values_supported, accessToken };
    try {
      const claims = await verifyIdToken(idToken, expected, this.#jwks, checkFlow, signal);
      // Not before: a token response with an unusable ID token does not show that the configuration is correct.
      this.#connection.resolved("token");
      return claims;
    } catch (error) {
      if (!(error instanceof ProviderUnavailableError) || !error.isMisconfiguration) throw error;
      throw this.#connection.misconfigured({
        endpoint: "token",
        reason: error.reason,
        message: "The provider encrypts its ID tokens, which idpauth doesn't support. Have the provider only sign them.",
      });
    }
  }

  /** Returns the values that idpauth expects in ID tokens and logout tokens. */
  #expected(): ExpectedClaims {
    const { issuer, clientId, trustedAudiences, clockTolerance } = this.#settings;
    return { issuer, tenants: this.#tenants, clientId, trustedAudiences, clockTolerance, now: epochSeconds(this.#clock) };
  }

  /** The startup checks report the same of an explicit SCOPE. */
  #warnOfScopes(metadata: ProviderMetadata): void {
    if (!this.#settings.scopeIsDefault || metadata.scopes_supported === undefined) return;
    if (refreshDoubt(this.#settings, metadata) !== "scope") return;
    this.#connection.events.logOnce({
      level: "warn",
      code: "W004",
      message:
        "IDP_SESSION_AUTO_REFRESH is on, but the provider doesn't advertise the scope offline_access. You might not get a refresh token.",
    });
  }

  /** Takes back W004, and W103 of `idpauth check --live`. The default log shows only W004. */
  #refreshTokenCame(metadata: ProviderMetadata): void {
    // A later discovery document may raise another doubt.
    if (metadata === this.#refreshTokenCameWith) return;
    this.#refreshTokenCameWith = metadata;
    const doubt = refreshDoubt(this.#settings, metadata);
    if (doubt !== undefined)
      this.#connection.events.logOnce({ ...logLine("refresh_token_given"), level: doubt === "scope" ? "warn" : "info" });
  }
}
