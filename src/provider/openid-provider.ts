import { calculatePKCECodeChallenge } from "oauth4webapi";
import { ProviderRefusedError, ProviderUnavailableError } from "../errors.js";
import type { EventHub } from "../events/event-hub.js";
import type {
  AuthorizationRequest,
  CodeExchange,
  LogoutRequest,
  LogoutToken,
  Provider,
  ProviderFacts,
  RefreshRequest,
  SignIn,
  SpentRefresh,
  VerifiedRefresh,
} from "../ports/provider.js";
import { credentialsToDict } from "../record/credentials.js";
import type { IdInfo } from "../record/identity.js";
import type { SessionRecord } from "../record/record.js";
import { epochSeconds, type Clock } from "../clock.js";
import { expiryOf, tokensOf, type TokenResponse } from "./token-responses.js";
import { createBackOff } from "./endpoint-back-off.js";
import { BestEffortEndpoint } from "./best-effort-endpoint.js";
import { createBackchannel } from "./transport.js";
import { createDiscovery, type Discovery, type ProviderMetadata } from "./discovery.js";
import { accountPrompt, defaultScopesLackRefresh, furtherParameters, loginScopes, stepUpParameters } from "./authorization-parameters.js";
import { checkContinuity, checkNonce, checkSessionExpiry, verifyIdToken, type Expected } from "./id-token.js";
import { refreshedClaims } from "./identity.js";
import { createJwks, type Jwks } from "./jwks.js";
import { verifyLogoutToken } from "./logout-token.js";
import { logoutUrl } from "./logout-url.js";
import { Misconfigurations } from "./misconfiguration.js";
import { createClientRequests } from "./client-requests.js";
import type { AuthorizationParams } from "../config/parameter-kinds.js";
import type { ProviderSettings } from "./provider-settings.js";
import { RevocationEndpoint } from "./revocation-endpoint.js";
import { tenantsOf, type Tenants } from "./tenants.js";
import { TokenEndpoint } from "./token-endpoint.js";
import { UserinfoEndpoint } from "./userinfo-endpoint.js";

export interface OpenIdProviderOptions {
  readonly settings: ProviderSettings;
  readonly clock: Clock;
  readonly events: EventHub;
  /** Default Node's own. It must honour `redirect: "manual"`. */
  readonly fetch?: typeof fetch;
  /** In [0, 1), for jitter; default `Math.random`. */
  readonly random?: () => number;
}

/** Requirements in the metadata that idpauth does not support. */
const UNSUPPORTED = [
  ["require_pushed_authorization_requests", "par_required", "pushed authorization requests (RFC 9126)"],
  ["require_signed_request_object", "request_object_required", "signed request objects (RFC 9101)"],
] as const;

/** Creates an OpenID provider's client. It sends no request before its first use. */
export function createOpenIdProvider(options: OpenIdProviderOptions): Provider {
  return new OpenIdProvider(options);
}

class OpenIdProvider implements Provider {
  readonly #settings: ProviderSettings;
  readonly #clock: Clock;
  readonly #events: EventHub;
  /** Undefined: the provider has one issuer. */
  readonly #tenants: Tenants | undefined;
  readonly #misconfigurations: Misconfigurations;
  readonly #discovery: Discovery;
  readonly #jwks: Jwks;
  readonly #tokens: TokenEndpoint;
  readonly #userinfo: UserinfoEndpoint;
  readonly #revocation: RevocationEndpoint;
  #hasWarnedOfScopes = false;

  constructor({ settings, clock, events, fetch = globalThis.fetch, random = Math.random }: OpenIdProviderOptions) {
    const backchannel = createBackchannel({ clock, timeout: settings.httpTimeout, fetch });
    const requests = createClientRequests(settings, backchannel);
    const misconfigurations = new Misconfigurations(events);
    const backOff = () => createBackOff(clock, random);
    this.#settings = settings;
    this.#tenants = tenantsOf(settings);
    this.#clock = clock;
    this.#events = events;
    this.#misconfigurations = misconfigurations;
    this.#tokens = new TokenEndpoint({ settings, requests, clock, random, events, misconfigurations });
    const endpoint = new BestEffortEndpoint("userinfo", { clock, events, backOff: backOff() });
    this.#userinfo = new UserinfoEndpoint({
      ...{ settings, clock, backchannel, misconfigurations, endpoint },
      tokens: this.#tokens,
      signIns: backOff(),
    });
    this.#discovery = createDiscovery({ settings, backchannel, backOff: backOff(), clock, events, misconfigurations });
    this.#revocation = new RevocationEndpoint({
      ...{ requests, clock, discovery: this.#discovery, timeout: settings.httpTimeout },
      endpoint: new BestEffortEndpoint("revocation", { clock, events, backOff: backOff() }),
    });
    const uri = async () => (await this.#discovery.current()).jwks_uri;
    this.#jwks = createJwks({ uri, issuer: settings.issuer, backchannel, backOff: backOff(), clock, events });
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

  async authorizationUrl(request: AuthorizationRequest): Promise<string> {
    const { redirectUri, state, nonce, verifier, selectAccount = false, parameters, stepUp } = request;
    const metadata = await this.#discovery.current();
    this.#assertSupported(metadata);
    this.#userinfo.assertAvailable(metadata);
    this.#warnOfScopes(metadata);
    const scopes = loginScopes(this.#settings, metadata.scopes_supported);
    const url = new URL(metadata.authorization_endpoint);
    const further = furtherParameters(this.#settings, scopes, parameters);
    const all: AuthorizationParams = {
      ...further,
      ...(stepUp && stepUpParameters(this.#settings, stepUp, further["prompt"])),
      ...(selectAccount && { prompt: accountPrompt(this.#settings, metadata.prompt_values_supported) }),
      client_id: this.#settings.clientId,
      response_type: "code",
      redirect_uri: new URL(redirectUri).href,
      scope: scopes.join(" "),
      state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    };
    for (const [name, values] of Object.entries(all)) {
      // The endpoint's own address may contain parameters.
      url.searchParams.delete(name);
      for (const value of [values].flat()) url.searchParams.append(name, value);
    }
    return url.href;
  }

  assertReadyToExchange(): void {
    this.#tokens.assertReadyToExchange();
    // A code is not spent if its ID token cannot be verified.
    this.#jwks.assertReady();
    this.#userinfo.assertReadyToSignIn();
  }

  assertReadyToRefresh(session: string): void {
    this.#tokens.assertReadyToRefresh(session);
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
    const tokens = tokensOf(await this.#tokens.exchange(metadata, exchange));
    const receivedAt = epochSeconds(this.#clock);
    const claims = await this.#verify(metadata, tokens, (claims) => {
      checkNonce(claims, nonce);
      checkSessionExpiry(claims, receivedAt);
    });
    const { accessToken = "", refreshToken, scopes, expiresIn } = tokens;
    const identity = await this.#userinfo.complete(metadata, claims, accessToken).catch((error: unknown) => {
      dropped?.({ accessToken, refreshToken }, claims);
      throw error;
    });
    return {
      credentials: credentialsToDict({
        token: accessToken,
        refreshToken,
        tokenUri: metadata.token_endpoint,
        clientId: this.#settings.clientId,
        clientSecret: this.#settings.clientSecret,
        scopes: scopes ?? loginScopes(this.#settings, metadata.scopes_supported),
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
    const { expiresIn, ...tokens } = tokensOf(await this.#tokens.refresh(metadata, request));
    const receivedAt = epochSeconds(this.#clock);
    return { ...tokens, receivedAt, accessTokenExpiresAt: expiryOf(receivedAt, expiresIn) };
  }

  async verifyRefreshed(spent: SpentRefresh, previous: SessionRecord, request: RefreshRequest): Promise<VerifiedRefresh> {
    const metadata = await this.#discovery.current(request.signal);
    this.#assertTenant(previous.id_info ?? {});
    if (spent.idToken === undefined) return this.#userinfo.confirm(metadata, spent, previous, request);
    const claims = await this.#verifiedRefresh(metadata, spent, previous, request);
    if (this.#userinfo.isRequired) return this.#userinfo.renew(metadata, claims, spent, previous, request);
    return refreshedClaims(claims, previous.id_info ?? {}, previous.idp_state.userinfo_claims ?? []);
  }

  /** @throws ProviderRefusedError the tenant of a session is not allowed any more */
  #assertTenant(claims: IdInfo): void {
    if (this.#tenants !== undefined && claims.iss !== this.#tenants.issuerFor(claims)) throw new ProviderRefusedError("id_token_iss");
  }

  /** Returns the claims of the refreshed ID token. */
  async #verifiedRefresh(
    metadata: ProviderMetadata,
    spent: SpentRefresh,
    previous: SessionRecord,
    request: RefreshRequest,
  ): Promise<IdInfo> {
    const before = previous.id_info ?? {};
    const check = (claims: IdInfo) => {
      checkContinuity(claims, before, this.#settings.clockTolerance);
    };
    const startedAt = this.#clock.monotonic();
    return this.#verify(metadata, spent, check, request.signal).catch((error: unknown) => {
      if (error instanceof ProviderUnavailableError && error.isMisconfiguration) {
        // The next refresh would get the same response.
        this.#tokens.refreshFailed(request.session, { startedAt, response: undefined, reason: error.reason, isOperators: true });
      }
      throw error;
    });
  }

  async logoutUrl(request: LogoutRequest): Promise<string | undefined> {
    return logoutUrl(this.#settings, await this.#discovery.current(), request);
  }

  async verifyLogoutToken(token: string): Promise<LogoutToken> {
    const expected = { ...this.#expected(await this.#discovery.current()), allowUntyped: this.#settings.allowUntypedLogoutTokens };
    return verifyLogoutToken(token, expected, this.#jwks);
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
    const expected = { ...this.#expected(metadata), accessToken };
    try {
      const claims = await verifyIdToken(idToken, expected, this.#jwks, checkFlow, signal);
      // Not before: a token response with an unusable ID token does not show that the configuration is correct.
      this.#misconfigurations.resolved("token");
      return claims;
    } catch (error) {
      if (!(error instanceof ProviderUnavailableError) || !error.isMisconfiguration) throw error;
      throw this.#misconfigurations.report({
        endpoint: "token",
        reason: error.reason,
        message: "The provider encrypts its ID tokens, which idpauth does not support. Have the provider only sign them.",
      });
    }
  }

  /** Returns the values that idpauth expects in ID tokens and logout tokens. */
  #expected(metadata: ProviderMetadata): Omit<Expected, "accessToken"> {
    return {
      issuer: metadata.issuer,
      tenants: this.#tenants,
      clientId: this.#settings.clientId,
      trustedAudiences: this.#settings.trustedAudiences,
      algorithms: metadata.id_token_signing_alg_values_supported,
      now: epochSeconds(this.#clock),
      clockTolerance: this.#settings.clockTolerance,
    };
  }

  #assertSupported(metadata: ProviderMetadata): void {
    for (const [name, reason, feature] of UNSUPPORTED) {
      if (metadata[name] !== true) continue;
      const message = `The provider requires ${feature}, which idpauth does not support. Turn the requirement off for this client, or use another provider.`;
      throw this.#misconfigurations.report({ endpoint: "authorization", reason, message });
    }
  }

  #warnOfScopes(metadata: ProviderMetadata): void {
    if (this.#hasWarnedOfScopes || !defaultScopesLackRefresh(this.#settings, metadata.scopes_supported)) return;
    this.#hasWarnedOfScopes = true;
    this.#events.log({
      level: "warn",
      code: "W004",
      message:
        "IDP_SESSION_AUTO_REFRESH is on, but the provider does not announce the scope offline_access. You might not get a refresh token.",
    });
  }
}
