import { calculatePKCECodeChallenge } from "oauth4webapi";
import { ProviderRefusedError, ProviderUnavailableError } from "../errors.js";
import type { EventHub } from "../events/event-hub.js";
import type {
  AuthorizationRequest,
  CodeExchange,
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
import { epochSeconds, type Clock, type EpochSeconds } from "../clock.js";
import { errorCode, tokensOf, type TokenResponse } from "./token-responses.js";
import { createBackOff, type BackOff } from "./back-off.js";
import { createBackchannel, withDeadline, type ProviderResponse, type Backchannel } from "./transport.js";
import { createDiscovery, type Discovery, type ProviderMetadata } from "./discovery.js";
import { accountPrompt, defaultScopesLackRefresh, loginScopes, offlineParameters } from "./authorization-parameters.js";
import { checkContinuity, checkNonce, verifyIdToken } from "./id-token.js";
import { completedByUserinfo, confirmedByUserinfo, lacksIdentity, refreshedClaims, type Identity } from "./identity.js";
import { createJwks, type Jwks } from "./jwks.js";
import { Misconfigurations, type Misconfiguration } from "./misconfiguration.js";
import { createClientRequests, type ClientRequests } from "./client-requests.js";
import type { ProviderSettings } from "./provider-settings.js";
import { TokenEndpoint } from "./token-endpoint.js";
import { askUserinfo, userinfoOf } from "./userinfo.js";

export interface OpenIdProviderOptions {
  readonly settings: ProviderSettings;
  readonly clock: Clock;
  readonly events: EventHub;
  /** Default Node's own. It must honour `redirect: "manual"`. */
  readonly fetch?: typeof fetch;
  /** In [0, 1), for jitter; default `Math.random`. */
  readonly random?: () => number;
}

/** The maximum seconds until the next refresh, after a refresh that userinfo has confirmed. */
const MAX_CONFIRMED = 3600;

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
  readonly #backchannel: Backchannel;
  readonly #requests: ClientRequests;
  readonly #misconfigurations: Misconfigurations;
  readonly #discovery: Discovery;
  readonly #jwks: Jwks;
  readonly #tokens: TokenEndpoint;
  readonly #userinfoBackOff: BackOff;
  readonly #revocationBackOff: BackOff;
  #hasWarnedOfScopes = false;

  constructor({ settings, clock, events, fetch = globalThis.fetch, random = Math.random }: OpenIdProviderOptions) {
    const backchannel = createBackchannel({ clock, timeout: settings.httpTimeout, fetch });
    const requests = createClientRequests(settings, backchannel);
    const misconfigurations = new Misconfigurations(events);
    const backOff = () => createBackOff(clock, random);
    this.#settings = settings;
    this.#clock = clock;
    this.#events = events;
    this.#backchannel = backchannel;
    this.#requests = requests;
    this.#misconfigurations = misconfigurations;
    this.#tokens = new TokenEndpoint({ settings, requests, clock, random, events, misconfigurations });
    this.#userinfoBackOff = backOff();
    this.#revocationBackOff = backOff();
    this.#discovery = createDiscovery({ settings, backchannel, backOff: backOff(), clock, events, misconfigurations });
    const uri = async () => (await this.#discovery.current()).jwks_uri;
    this.#jwks = createJwks({ uri, issuer: settings.issuer, backchannel, backOff: backOff(), clock, events });
  }

  async facts(): Promise<ProviderFacts> {
    const metadata = await this.#discovery.current();
    return { issuer: metadata.issuer, sendsIss: metadata.authorization_response_iss_parameter_supported === true };
  }

  async authorizationUrl({ redirectUri, state, nonce, verifier, selectAccount = false }: AuthorizationRequest): Promise<string> {
    const metadata = await this.#discovery.current();
    this.#assertSupported(metadata);
    this.#warnOfScopes(metadata);
    const scopes = loginScopes(this.#settings, metadata.scopes_supported);
    const url = new URL(metadata.authorization_endpoint);
    const parameters = {
      client_id: this.#settings.clientId,
      response_type: "code",
      redirect_uri: new URL(redirectUri).href,
      scope: scopes.join(" "),
      state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      ...offlineParameters(this.#settings, scopes),
      ...(selectAccount && { prompt: accountPrompt(this.#settings, metadata.prompt_values_supported) }),
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url.href;
  }

  assertReadyToExchange(): void {
    this.#tokens.assertReadyToExchange();
    // A code is not spent if its ID token cannot be verified.
    this.#jwks.assertReady();
  }

  assertReadyToRefresh(session: string): void {
    this.#tokens.assertReadyToRefresh(session);
    this.#jwks.assertReady();
  }

  async exchange(exchange: CodeExchange): Promise<SignIn> {
    const { code, redirectUri, nonce } = exchange;
    if (code === "") throw new ProviderRefusedError("code_missing");
    // It comes from a stored record, which is validated like any other input.
    if (!URL.canParse(redirectUri)) throw new ProviderRefusedError("redirect_uri");
    const metadata = await this.#discovery.current();
    this.assertReadyToExchange();
    const tokens = tokensOf(await this.#tokens.exchange(metadata, exchange));
    const receivedAt = epochSeconds(this.#clock);
    const claims = await this.#verify(metadata, tokens, (claims) => {
      checkNonce(claims, nonce);
    });
    const { accessToken = "", refreshToken, scopes, expiresIn } = tokens;
    return {
      credentials: credentialsToDict({
        token: accessToken,
        refreshToken,
        tokenUri: metadata.token_endpoint,
        clientId: this.#settings.clientId,
        clientSecret: this.#settings.clientSecret,
        scopes: scopes ?? loginScopes(this.#settings, metadata.scopes_supported),
      }),
      ...(await this.#completed(metadata, claims, accessToken)),
      receivedAt,
      accessTokenExpiresAt: expiryOf(receivedAt, expiresIn),
    };
  }

  async refresh(request: RefreshRequest): Promise<SpentRefresh> {
    const metadata = await this.#discovery.current(request.signal);
    this.assertReadyToRefresh(request.session);
    const { expiresIn, ...tokens } = tokensOf(await this.#tokens.refresh(metadata, request));
    const receivedAt = epochSeconds(this.#clock);
    return { ...tokens, receivedAt, accessTokenExpiresAt: expiryOf(receivedAt, expiresIn) };
  }

  async verifyRefreshed(spent: SpentRefresh, previous: SessionRecord, request: RefreshRequest): Promise<VerifiedRefresh> {
    const metadata = await this.#discovery.current(request.signal);
    if (spent.idToken === undefined) return this.#confirmed(metadata, spent, previous, request);
    const before = previous.id_info ?? {};
    const check = (claims: IdInfo) => {
      checkContinuity(claims, before, this.#settings.clockTolerance);
    };
    const startedAt = this.#clock.monotonic();
    const claims = await this.#verify(metadata, spent, check, request.signal).catch((error: unknown) => {
      if (error instanceof ProviderUnavailableError && error.isMisconfiguration) {
        // The next refresh would get the same response.
        this.#tokens.refreshFailed(request.session, { startedAt, response: undefined, reason: error.reason, isOperators: true });
      }
      throw error;
    });
    return refreshedClaims(claims, before, previous.idp_state.userinfo_claims ?? []);
  }

  async revoke(token: string, hint: "refresh_token" | "access_token"): Promise<boolean> {
    try {
      return await withDeadline(this.#clock, this.#settings.httpTimeout, (signal) => this.#revoke(token, hint, signal));
    } catch (error) {
      this.#warn("revocation", "A token could not be revoked.", {
        reason: error instanceof ProviderUnavailableError ? error.reason : "unexpected",
      });
      return false;
    }
  }

  async #revoke(token: string, hint: string, signal: AbortSignal): Promise<boolean> {
    const metadata = await this.#discovery.current(signal);
    if (metadata.revocation_endpoint === undefined) return false;
    const response = await this.#ask(metadata, "revocation", this.#revocationBackOff, () =>
      this.#requests.revoke(metadata, token, hint, signal),
    );
    if (response.status === 200) return true;
    const error = errorCode(response);
    this.#warn("revocation", "A token could not be revoked.", { status: response.status, ...(error !== undefined && { error }) });
    return false;
  }

  /** Sends a best-effort request, unless the back-off blocks it. */
  async #ask(
    metadata: ProviderMetadata,
    endpoint: "userinfo" | "revocation",
    backOff: BackOff,
    send: () => Promise<ProviderResponse>,
  ): Promise<ProviderResponse> {
    backOff.assertReady();
    const startedAt = this.#clock.monotonic();
    const failed = (reason: string, retryAfter?: string | null): number => {
      this.#outage(metadata, endpoint, reason, startedAt);
      return backOff.failed(startedAt, { retryAfter });
    };
    try {
      const response = await send();
      if (isServerTrouble(response)) failed(`http_${String(response.status)}`, response.headers.get("retry-after"));
      else backOff.succeeded();
      return response;
    } catch (error) {
      if (!(error instanceof ProviderUnavailableError)) throw error;
      throw new ProviderUnavailableError(error.reason, { retryAfter: failed(error.reason), cause: error.cause });
    }
  }

  async #verify(
    metadata: ProviderMetadata,
    { accessToken, idToken }: Pick<TokenResponse, "accessToken" | "idToken">,
    checkFlow: (claims: IdInfo) => void,
    signal?: AbortSignal,
  ): Promise<IdInfo> {
    if (accessToken === undefined) throw new ProviderRefusedError("access_token_missing");
    if (idToken === undefined) throw new ProviderRefusedError("id_token_missing");
    const expected = {
      issuer: metadata.issuer,
      clientId: this.#settings.clientId,
      trustedAudiences: this.#settings.trustedAudiences,
      algorithms: metadata.id_token_signing_alg_values_supported,
      accessToken,
      now: epochSeconds(this.#clock),
      clockTolerance: this.#settings.clockTolerance,
    };
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

  /** Adds userinfo's claims to an ID token without claims about the user (OpenID Connect Core section 5.4). Never rejects. */
  async #completed(metadata: ProviderMetadata, claims: IdInfo, accessToken: string): Promise<Identity> {
    const endpoint = metadata.userinfo_endpoint;
    const alone = { idInfo: claims, userinfoClaims: [] };
    if (!lacksIdentity(claims) || endpoint === undefined) return alone;
    try {
      const response = await this.#ask(metadata, "userinfo", this.#userinfoBackOff, () =>
        askUserinfo(this.#backchannel, endpoint, accessToken),
      );
      const userinfo = userinfoOf(response, claims.sub);
      if (userinfo.kind === "claims") return completedByUserinfo(claims, userinfo.claims);
      if (userinfo.kind === "signed") this.#signedUserinfo();
      else this.#warn("userinfo", "The userinfo response cannot be used. The sign-in continues without it.", { status: response.status });
    } catch (error) {
      const reason = error instanceof ProviderUnavailableError ? error.reason : "unexpected";
      this.#warn("userinfo", "The userinfo endpoint did not respond. The sign-in continues without it.", { reason });
    }
    return alone;
  }

  /** Handles a refresh response without an ID token (Core section 12.2): userinfo must confirm the same user. */
  async #confirmed(
    metadata: ProviderMetadata,
    { accessToken, receivedAt, accessTokenExpiresAt }: SpentRefresh,
    { id_info: before = {}, idp_state: state }: SessionRecord,
    { session, signal }: RefreshRequest,
  ): Promise<VerifiedRefresh> {
    const endpoint = metadata.userinfo_endpoint;
    if (accessToken === undefined) throw new ProviderRefusedError("access_token_missing");
    if (endpoint === undefined || this.#settings.refreshWithoutIdToken === "refuse") {
      this.#misconfigurations.report({
        // Not "token": each sign-in, which has an ID token, would reset that endpoint, and the line would repeat.
        endpoint: "userinfo",
        reason: "id_token_missing",
        message:
          "The provider's refresh responses have no ID token, so a session ends at its first refresh. " +
          "If the provider has a userinfo endpoint, set IDP_REFRESH_WITHOUT_ID_TOKEN to userinfo. Otherwise set IDP_SESSION_AUTO_REFRESH to false.",
      });
      throw new ProviderRefusedError("id_token_missing");
    }
    const startedAt = this.#clock.monotonic();
    const outage = (reason: string, response?: ProviderResponse, cause?: unknown): ProviderUnavailableError => {
      this.#outage(metadata, "userinfo", reason, startedAt);
      const retryAfter = this.#tokens.refreshFailed(session, { startedAt, response, reason, isOperators: false });
      this.#warn("userinfo", "The userinfo endpoint could not confirm a refresh. The session is kept.", { reason });
      return new ProviderUnavailableError(reason, { retryAfter, cause });
    };
    const response = await askUserinfo(this.#backchannel, endpoint, accessToken, signal).catch((error: unknown) => {
      if (!(error instanceof ProviderUnavailableError)) throw error;
      throw outage(error.reason, undefined, error.cause);
    });
    const userinfo = userinfoOf(response, before.sub);
    if (userinfo.kind === "outage") throw outage(userinfo.reason, response);
    if (userinfo.kind === "refused") throw new ProviderRefusedError(userinfo.reason);
    if (userinfo.kind === "signed") {
      this.#signedUserinfo();
      throw new ProviderRefusedError("id_token_missing");
    }
    const lifetime = Math.min(
      MAX_CONFIRMED,
      (accessTokenExpiresAt ?? receivedAt + lifetimeOf(before, state.tokens_received_at)) - receivedAt,
    );
    return confirmedByUserinfo(before, state.userinfo_claims ?? [], userinfo.claims, receivedAt + lifetime);
  }

  #assertSupported(metadata: ProviderMetadata): void {
    for (const [name, reason, feature] of UNSUPPORTED) {
      if (metadata[name] !== true) continue;
      const message = `The provider requires ${feature}, which idpauth does not support. Turn the requirement off for this client, or use another provider.`;
      throw this.#misconfigurations.report({ endpoint: "authorization", reason, message });
    }
  }

  #signedUserinfo(): void {
    const mistake: Misconfiguration = {
      endpoint: "userinfo",
      reason: "userinfo_signed",
      message:
        "The userinfo endpoint sends a signed response (application/jwt), which idpauth does not support. Have the provider send JSON.",
    };
    this.#misconfigurations.report(mistake);
  }

  #outage(metadata: ProviderMetadata, endpoint: "userinfo" | "revocation", reason: string, startedAt: number): void {
    const duration = this.#clock.monotonic() - startedAt;
    this.#events.emit("outage", { issuer: metadata.issuer, side: "provider", endpoint, reason, duration });
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

  #warn(endpoint: string, message: string, details: Record<string, string | number>): void {
    this.#events.log({ level: "warn", code: "provider_unavailable", message, details: { endpoint, ...details } });
  }
}

/** Returns the lifetime of the last ID token in seconds, from its receipt. Old records lack the receipt; then from its `iat`. */
function lifetimeOf({ exp, iat }: IdInfo, receivedAt: EpochSeconds | undefined): number {
  const from = receivedAt ?? iat;
  const seconds = typeof exp === "number" && typeof from === "number" ? exp - from : NaN;
  return seconds > 0 ? Math.floor(seconds) : MAX_CONFIRMED;
}

function expiryOf(receivedAt: EpochSeconds, expiresIn: number | undefined): EpochSeconds | undefined {
  return expiresIn === undefined ? undefined : Math.floor(receivedAt + expiresIn);
}

function isServerTrouble({ status }: ProviderResponse): boolean {
  return status >= 500 || status === 408 || status === 429;
}
