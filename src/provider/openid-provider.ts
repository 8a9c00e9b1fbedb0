import { epochSeconds } from "../clock.js";
import { isNamedByScope } from "../config/api-scopes.js";
import { profileOf } from "../config/provider-profiles.js";
import { ProviderRefusedError, ProviderUnavailableError } from "../errors.js";
import { logLine } from "../events/log-lines.js";
import type {
  AuthorizationAddress,
  AuthorizationRequest,
  CodeExchange,
  Provider,
  ProviderFacts,
  RefreshRequest,
} from "../ports/provider.js";
import { refreshedClaims } from "../record/claims-after-refresh.js";
import {
  credentialsToDict,
  type Identity,
  type SignIn,
  type SpentRefresh,
} from "../record/credentials.js";
import type { DpopKey } from "../record/dpop.js";
import type { SessionRecord } from "../record/record.js";
import { hasAskedFor } from "../record/why-no-api-token.js";
import { withoutUndefined } from "../record/without-undefined.js";
import { lazily } from "../work/lazily.js";
import { tenantsOf } from "./allowed-tenants.js";
import { checkAudience, missingScopes, targetParameters } from "./api-audience.js";
import {
  authorizationParameters,
  loginScopes,
  signedAddress,
  withParameters,
} from "./authorization-request.js";
import { createClientAuthentication } from "./client-authentication.js";
import { createClientSignatures } from "./client-signatures.js";
import { createDiscovery } from "./discovery.js";
import { assertProfile } from "./fapi-document.js";
import { createJwks } from "./key-fetches.js";
import { logoutUrl } from "./logout-url.js";
import { createProviderConnection, type OpenIdProviderOptions } from "./provider-connection.js";
import type { ProviderMetadata } from "./provider-metadata.js";
import { createPushedRequests } from "./pushed-requests.js";
import { createRefreshBackOff } from "./refresh-back-off.js";
import { createRefreshTokenReports } from "./refresh-token-reports.js";
import { createRequestObjects } from "./request-object.js";
import { createRevocationEndpoint } from "./revocation-endpoint.js";
import { createTokenEndpoint } from "./token-endpoint.js";
import { expiryOf, type TokenResponse } from "./token-response.js";
import { createTokenVerification } from "./token-verification.js";
import { createUserinfoAtRefresh } from "./userinfo-at-refresh.js";
import { createUserinfoAtSignIn } from "./userinfo-at-sign-in.js";
import { createUserinfoEndpoint } from "./userinfo-endpoint.js";

/** Loaded when the application starts if tokens are bound to keys. */
const loadDpopKeys = lazily(() => import("./dpop/dpop-keys.js"));

/** Creates an OpenID provider's client. It sends no request before its first use. */
export function createOpenIdProvider(options: OpenIdProviderOptions): Provider {
  const signatures = createClientSignatures(options);
  const authentication = createClientAuthentication(options, signatures);
  const connection = createProviderConnection(options, authentication);
  const { settings, clock } = connection;
  const { targets = [] } = options;
  if (settings.dpop) loadDpopKeys().catch(() => undefined);
  /** Undefined: the provider has one issuer. */
  const tenants = tenantsOf(settings);
  const discovery = createDiscovery(connection);
  const jwks = createJwks(connection, async () => (await discovery.current()).jwks_uri);
  const verification = createTokenVerification(connection, discovery, jwks);
  const refreshes = createRefreshBackOff(clock, connection.random);
  const pushedRequests = createPushedRequests(connection);
  const requestObjects = createRequestObjects(connection, signatures);
  const tokenEndpoint = createTokenEndpoint(connection, refreshes);
  const userinfo = createUserinfoEndpoint(connection);
  const userinfoAtSignIn = createUserinfoAtSignIn(connection, userinfo);
  const userinfoAtRefresh = createUserinfoAtRefresh(connection, userinfo, refreshes);
  const revocation = createRevocationEndpoint(connection, discovery);
  const refreshTokens = createRefreshTokenReports(connection);

  function assertReadyToExchange(): void {
    tokenEndpoint.assertReadyToExchange();
    // A code is not spent if its ID token cannot be verified.
    jwks.assertReady();
    userinfoAtSignIn.assertReady();
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

  async function facts(): Promise<ProviderFacts> {
    const metadata = await discovery.current();
    return withoutUndefined({
      issuer: metadata.issuer,
      sendsIss: metadata.authorization_response_iss_parameter_supported === true,
      isResponseIssuer: tenants?.isResponseIssuer,
      cancelled: profileOf(settings.issuer, metadata).cancelled,
    });
  }

  /** Undefined: the tokens of this client are bearer tokens. */
  async function createDpopKey(): Promise<DpopKey | undefined> {
    return settings.dpop ? (await loadDpopKeys()).createDpopKey() : undefined;
  }

  async function authorizationUrl(request: AuthorizationRequest): Promise<AuthorizationAddress> {
    const metadata = await discovery.current();
    assertProfile(metadata, connection);
    const isSigned = requestObjects.areRequired(metadata);
    userinfo.assertAvailable(metadata);
    refreshTokens.warnOfScopes(metadata);
    const endpoint = pushedRequests.endpointOf(metadata);
    const { dpopKey } = request;
    const parameters = {
      ...(await authorizationParameters(request, { settings, metadata, targets })),
      ...(dpopKey && { dpop_jkt: await (await loadDpopKeys()).thumbprintOf(dpopKey) }),
    };
    const plain = withParameters(metadata.authorization_endpoint, parameters);
    const isSilent = plain.searchParams.get("prompt") === "none";
    const signed = async () => (isSigned ? requestObjects.sign(metadata, parameters) : parameters);
    if (endpoint !== undefined) {
      const pushed = await pushedRequests.push(metadata, { endpoint, parameters: signed, request });
      return { ...pushed, isSilent };
    }
    if (!isSigned) return { url: plain.href, isSilent };
    return { url: signedAddress(metadata, parameters, await signed()), isSilent };
  }

  async function exchange(exchange: CodeExchange): Promise<SignIn> {
    const { code, redirectUri, nonce, dropped } = exchange;
    if (code === "") throw new ProviderRefusedError("code_missing");
    // It comes from a stored record, which is validated like any other input.
    if (!URL.canParse(redirectUri)) throw new ProviderRefusedError("redirect_uri");
    const metadata = await discovery.current();
    userinfo.assertAvailable(metadata);
    assertReadyToExchange();
    // A login that began before DPoP was turned on has no key.
    const dpopKey = exchange.dpopKey ?? (await createDpopKey());
    const parameters = baseScope(metadata);
    const tokens = await tokenEndpoint.exchange(metadata, { ...exchange, dpopKey }, parameters);
    const receivedAt = epochSeconds(clock);
    const { accessToken, refreshToken, expiresIn } = tokens;
    const dpop = tokens.tokenType === "DPoP" ? tokens.dpop : undefined;
    const verified = verification.verifySignIn({ metadata, tokens, nonce, receivedAt });
    if (refreshToken !== undefined) refreshTokens.came(metadata);
    const identity = await verified
      .then(async ({ claims, algorithm }) => {
        const { backchannelLogout, frontchannelLogout } = settings;
        if ((backchannelLogout || frontchannelLogout) && claims["sid"] === undefined)
          connection.events.logOnce(logLine("sid_missing"));
        const token = { accessToken: accessToken ?? "", dpop };
        const complete = await userinfoAtSignIn.complete(metadata, claims, token);
        return { ...complete, idTokenAlg: algorithm };
      })
      .catch((error: unknown) => {
        dropped?.({ accessToken, refreshToken });
        throw error;
      });
    return {
      credentials: credentialsOf(tokens, metadata),
      ...identity,
      idToken: tokens.idToken ?? "",
      receivedAt,
      accessTokenExpiresAt: expiryOf(receivedAt, expiresIn),
      dpop,
    };
  }

  function credentialsOf(
    { accessToken = "", refreshToken, scopes, tokenType }: TokenResponse,
    metadata: ProviderMetadata,
  ): SignIn["credentials"] {
    const credentials = credentialsToDict({
      token: accessToken,
      refreshToken,
      tokenUri: metadata.token_endpoint,
      clientId: settings.clientId,
      clientSecret: settings.clientSecret,
      scopes: scopes ?? loginScopes(settings, metadata),
    });
    return { ...credentials, ...withoutUndefined({ token_type: tokenType }) };
  }

  async function refresh(request: RefreshRequest): Promise<SpentRefresh> {
    const metadata = await discovery.current(request.signal);
    userinfo.assertAvailable(metadata);
    const { target } = request;
    assertReadyToRefresh(request.session, target?.api);
    await refreshes.enter(request, request.signal);
    const parameters =
      target === undefined ? baseScope(metadata) : targetParameters(target, settings.issuer);
    const dpopKey = request.dpop === undefined ? await createDpopKey() : undefined;
    const dpop = request.dpop ?? (dpopKey && { key: dpopKey });
    const { expiresIn, ...tokens } = await tokenEndpoint
      .refresh(metadata, { ...request, dpop }, parameters)
      .catch((error: unknown) => {
        // Userinfo is not called.
        refreshes.left(request, "userinfo");
        throw error;
      });
    if (tokens.refreshToken !== undefined) refreshTokens.came(metadata);
    const receivedAt = epochSeconds(clock);
    return { ...tokens, receivedAt, accessTokenExpiresAt: expiryOf(receivedAt, expiresIn) };
  }

  async function checkApiToken(
    spent: SpentRefresh,
    previous: SessionRecord,
    request: RefreshRequest,
  ): Promise<void> {
    const { target } = request;
    if (target === undefined) return;
    const missing = missingScopes(target, spent.scopes);
    const isUnconsented =
      missing.length > 0 && target.consentLater && !hasAskedFor(previous, target.api);
    await alone(request, async () => {
      verification.usableToken(spent);
      checkAudience(spent, target, settings.issuer);
      if (isUnconsented) throw new ProviderRefusedError("api_scopes_missing");
      if (spent.idToken === undefined) return;
      const metadata = await discovery.current(request.signal);
      await verification.verifyRefresh({ metadata, spent, previous, request });
    });
    const text = `The provider granted the token for the API ${target.api} without these scopes: ${missing.join(" ")}.`;
    if (missing.length > 0) connection.events.logOnce(logLine("api_scopes_missing", text));
    refreshes.succeeded(request);
  }

  async function verifyRefreshed(
    spent: SpentRefresh,
    previous: SessionRecord,
    request: RefreshRequest,
  ): Promise<Identity> {
    const metadata = await discovery.current(request.signal);
    const before = previous.id_info ?? {};
    // The tenant of a session may not be allowed any more.
    if (tenants !== undefined && before.iss !== tenants.issuerFor(before))
      throw new ProviderRefusedError("id_token_iss");
    const check = { metadata, spent, previous, request };
    const verifyNow = async (): Promise<Identity> => {
      if (spent.idToken === undefined) {
        const accessToken = await alone(request, async () => verification.usableToken(spent));
        return userinfoAtRefresh.confirm(check, accessToken);
      }
      const token = await alone(request, () => verification.verifyRefresh(check));
      const { claims, algorithm: idTokenAlg } = token;
      if (userinfo.isRequired)
        return { ...(await userinfoAtRefresh.renew(check, claims)), idTokenAlg };
      const names = previous.idp_state.userinfo_claims ?? [];
      return { ...refreshedClaims(claims, before, names), idTokenAlg };
    };
    const verified = await verifyNow();
    refreshes.succeeded(request);
    return verified;
  }

  return {
    facts,
    authorizationUrl,
    createDpopKey,
    assertReadyToExchange,
    assertReadyToRefresh,
    exchange,
    refresh,
    checkApiToken,
    verifyRefreshed: (spent, previous, request) =>
      verifyRefreshed(spent, previous, request).finally(() => {
        refreshes.left(request, "userinfo");
      }),
    logoutUrl: async (request) => logoutUrl(settings, await discovery.current(), request),
    verifyResponse: verification.verifyResponse,
    verifyLogoutToken: verification.verifyLogout,
    revoke: revocation.revoke,
  };
}
