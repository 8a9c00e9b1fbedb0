import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  ClientSecretPost,
  clockSkew,
  clockTolerance,
  Configuration,
  customFetch,
  fetchUserInfo,
  refreshTokenGrant,
  tokenRevocation,
  type CustomFetch,
} from "openid-client";
import { ProviderRefusedError, ProviderUnavailableError } from "../core/errors.js";
import type { EventHub } from "../core/event-hub.js";
import type { ProviderEndpoint } from "../core/events.js";
import type { AuthorizationRequest, CodeExchange, Log, Provider, ProviderFacts, SignIn, SpentRefresh } from "../core/ports.js";
import { credentialsToDict, type IdInfo } from "../core/record.js";
import { parseUrl } from "../core/redirects.js";
import { epochSeconds, type Clock, type EpochSeconds } from "../core/time.js";
import { blamesClient, errorCode, jsonObject, meaningOf, tokensOf, withoutBrokenExtras } from "./answers.js";
import { createBackOff, type BackOff } from "./back-off.js";
import { askThrough, createBackchannel, withDeadline, type Answer, type Asked, type AskOptions, type Backchannel } from "./backchannel.js";
import { allowsHttp, createDiscovery, permitHttp, type Discovery, type ProviderMetadata } from "./discovery.js";
import { defaultScopesLackRefresh, loginScopes, offlineParameters } from "./google.js";
import { checkContinuity, checkNonce, lacksIdentity, verifyIdToken, withKeptIdentity } from "./id-token.js";
import { createJwks, type Jwks } from "./jwks.js";
import { CLOCK_TOLERANCE, type ProviderSettings } from "./settings.js";

export interface OpenIdProviderOptions {
  readonly settings: ProviderSettings;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventHub;
  /** Default Node's own. It must honour `redirect: "manual"`. */
  readonly fetch?: typeof fetch;
  /** In [0, 1), for jitter; default `Math.random`. */
  readonly random?: () => number;
}

/** The provider as OpenID Connect describes it. Asks nothing of it until it is used. */
export function createOpenIdProvider(options: OpenIdProviderOptions): Provider {
  return new OpenIdProvider(options);
}

class OpenIdProvider implements Provider {
  readonly #settings: ProviderSettings;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #events: EventHub;
  readonly #backchannel: Backchannel;
  readonly #discovery: Discovery;
  readonly #jwks: Jwks;
  readonly #tokenBackOff: BackOff;
  readonly #userinfoBackOff: BackOff;
  readonly #revocationBackOff: BackOff;
  #hasWarnedOfScopes = false;

  constructor({ settings, clock, log, events, fetch = globalThis.fetch, random = Math.random }: OpenIdProviderOptions) {
    const backchannel = createBackchannel({ clock, timeout: settings.httpTimeout, fetch });
    const backOff = () => createBackOff(clock, random);
    this.#settings = settings;
    this.#clock = clock;
    this.#log = log;
    this.#events = events;
    this.#backchannel = backchannel;
    this.#tokenBackOff = backOff();
    this.#userinfoBackOff = backOff();
    this.#revocationBackOff = backOff();
    this.#discovery = createDiscovery({ settings, backchannel, backOff: backOff(), clock, log, events });
    const uri = async () => (await this.#discovery.current()).jwks_uri;
    this.#jwks = createJwks({ uri, issuer: settings.issuer, backchannel, backOff: backOff(), clock, log, events });
  }

  async facts(): Promise<ProviderFacts> {
    const metadata = await this.#discovery.current();
    return { issuer: metadata.issuer, sendsIss: metadata.authorization_response_iss_parameter_supported === true };
  }

  async authorizationUrl({ redirectUri, state, nonce, verifier }: AuthorizationRequest): Promise<string> {
    const metadata = await this.#discovery.current();
    this.#warnOfScopes(metadata);
    const scopes = loginScopes(this.#settings, metadata.scopes_supported);
    const url = buildAuthorizationUrl(this.#configuration(metadata), {
      redirect_uri: new URL(redirectUri).href,
      scope: scopes.join(" "),
      state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      ...offlineParameters(this.#settings, scopes),
    });
    return url.href;
  }

  assertTokenEndpointReady(): void {
    this.#tokenBackOff.assertReady();
    // No code or refresh token is spent on an ID token that could not be verified.
    this.#jwks.assertReady();
  }

  async exchange({ code, redirectUri, nonce, verifier }: CodeExchange): Promise<SignIn> {
    if (code === "") throw new ProviderRefusedError("code_missing");
    const metadata = await this.#discovery.current();
    // State and issuer of the authorization answer have been checked; the library wants to see the issuer again.
    const answered = parseUrl(redirectUri);
    // Out of a stored record, which is believed no more than anything else.
    if (answered === undefined) throw new ProviderRefusedError("redirect_uri");
    answered.searchParams.set("code", code);
    answered.searchParams.set("iss", metadata.issuer);
    const checks = { pkceCodeVerifier: verifier, expectedNonce: nonce, idTokenExpected: true };
    const { body, isAccepted } = await this.#askTokenEndpoint(metadata, (config) => authorizationCodeGrant(config, answered, checks), {
      isTrouble: isTroubleForAnyCode,
    });
    const { accessToken, refreshToken, idToken, scopes, expiresIn } = tokensOf(body);
    const claims = await this.#verify(metadata, accessToken, idToken, (claims) => {
      checkNonce(claims, nonce);
    });
    if (!isAccepted || accessToken === undefined) throw new ProviderRefusedError("token_answer");
    return {
      credentials: credentialsToDict({
        token: accessToken,
        refreshToken,
        tokenUri: metadata.token_endpoint,
        clientId: this.#settings.clientId,
        clientSecret: this.#settings.clientSecret,
        scopes: scopes ?? loginScopes(this.#settings, metadata.scopes_supported),
      }),
      idInfo: await this.#withUserinfo(metadata, claims, accessToken),
      accessTokenExpiresAt: this.#expiry(expiresIn),
    };
  }

  async refresh(refreshToken: string, signal: AbortSignal): Promise<SpentRefresh> {
    const metadata = await this.#discovery.current(signal);
    // What the library thinks of a 200 does not matter: its refresh token has replaced ours, good or bad.
    const { body } = await this.#askTokenEndpoint(metadata, (config) => refreshTokenGrant(config, refreshToken), {
      isTrouble: isTokenTrouble,
      signal,
    });
    const { expiresIn, ...tokens } = tokensOf(body);
    return { ...tokens, accessTokenExpiresAt: this.#expiry(expiresIn) };
  }

  async verifyRefreshed({ accessToken, idToken }: SpentRefresh, previous: IdInfo, signal: AbortSignal): Promise<IdInfo> {
    const metadata = await this.#discovery.current(signal);
    const check = (claims: IdInfo) => {
      checkContinuity(claims, previous);
    };
    return withKeptIdentity(await this.#verify(metadata, accessToken, idToken, check, signal), previous);
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
    const { answer } = await this.#ask(
      metadata,
      "revocation",
      this.#revocationBackOff,
      (config) => tokenRevocation(config, token, { token_type_hint: hint }),
      { signal },
    );
    if (answer.status === 200) return true;
    const error = errorCode(answer);
    this.#warn("revocation", "A token could not be revoked.", { status: answer.status, ...(error !== undefined && { error }) });
    return false;
  }

  /** One request to the token endpoint, never repeated: what it carries works once. */
  async #askTokenEndpoint(
    metadata: ProviderMetadata,
    ask: (config: Configuration) => Promise<unknown>,
    options: TokenOptions,
  ): Promise<{ body: Readonly<Record<string, unknown>>; isAccepted: boolean }> {
    this.assertTokenEndpointReady();
    const { answer, result } = await this.#ask(metadata, "token", this.#tokenBackOff, ask, { ...options, tidy: withoutBrokenExtras });
    const meaning = meaningOf(answer);
    if (meaning.kind === "ok") return { body: meaning.body, isAccepted: result !== undefined };
    if (meaning.kind === "refused") throw new ProviderRefusedError(meaning.reason);
    if (meaning.kind === "operator") {
      this.#log({
        level: "error",
        code: "provider_unavailable",
        message:
          "The token endpoint does not accept this client. Check client id, client secret, IDP_TOKEN_ENDPOINT_AUTH_METHOD and the client's settings at the provider.",
        details: { endpoint: "token", status: answer.status, reason: meaning.reason },
      });
    }
    throw new ProviderUnavailableError(meaning.reason, { retryAfter: this.#tokenBackOff.secondsLeft() });
  }

  /** Sends what the library builds, unless the endpoint is backed off from; knows an endpoint in trouble by its answer. */
  async #ask<Result>(
    metadata: ProviderMetadata,
    endpoint: ProviderEndpoint,
    backOff: BackOff,
    ask: (config: Configuration) => Promise<Result>,
    { isTrouble = isServerTrouble, ...options }: AskOptions & { readonly isTrouble?: (answer: Answer) => boolean } = {},
  ): Promise<Asked<Result>> {
    backOff.assertReady();
    const startedAt = this.#clock.monotonic();
    const failed = (reason: string, retryAfter?: string | null): number => {
      const duration = this.#clock.monotonic() - startedAt;
      this.#events.emit("outage", { issuer: metadata.issuer, side: "provider", endpoint, reason, duration });
      return backOff.failed(startedAt, retryAfter);
    };
    try {
      const asked = await askThrough(this.#backchannel, (fetch) => ask(this.#configuration(metadata, fetch)), options);
      if (isTrouble(asked.answer)) failed(troubleOf(asked.answer), asked.answer.headers.get("retry-after"));
      else backOff.succeeded();
      return asked;
    } catch (error) {
      if (!(error instanceof ProviderUnavailableError)) throw error;
      throw new ProviderUnavailableError(error.reason, { retryAfter: failed(error.reason), cause: error.cause });
    }
  }

  #configuration(metadata: ProviderMetadata, fetch?: CustomFetch): Configuration {
    const { clientId, clientSecret, tokenEndpointAuthMethod } = this.#settings;
    const authentication = tokenEndpointAuthMethod === "client_secret_basic" ? ClientSecretBasic : ClientSecretPost;
    // The library reads the machine's clock; this makes it see ours, but for what rounding to whole seconds takes. So it is
    // given two seconds more of tolerance; our own check of the same claims is the exact one.
    const skew = Math.round((this.#clock.now() - Date.now()) / 1000);
    const client = { [clockSkew]: skew, [clockTolerance]: CLOCK_TOLERANCE + 2 };
    const config = new Configuration(metadata, clientId, client, authentication(clientSecret));
    if (fetch !== undefined) config[customFetch] = fetch;
    if (allowsHttp(this.#settings) || this.#settings.debug) permitHttp(config);
    return config;
  }

  async #verify(
    metadata: ProviderMetadata,
    accessToken: string | undefined,
    idToken: string | undefined,
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
    };
    return verifyIdToken(idToken, expected, this.#jwks, checkFlow, signal);
  }

  /** Fills in who this is where the ID token only says which account (OpenID Connect Core section 5.4). Never fails. */
  async #withUserinfo(metadata: ProviderMetadata, claims: IdInfo, accessToken: string): Promise<IdInfo> {
    if (!lacksIdentity(claims) || metadata.userinfo_endpoint === undefined) return claims;
    try {
      const { answer, result } = await this.#ask(metadata, "userinfo", this.#userinfoBackOff, (config) =>
        fetchUserInfo(config, accessToken, claims.sub as string),
      );
      const userinfo = jsonObject(answer);
      // The library has compared the subjects (section 5.3.2). A signed answer, whose signature nobody has checked, is no object.
      if (result !== undefined && userinfo !== undefined) return withKeptIdentity(claims, userinfo);
      this.#warn("userinfo", "The userinfo answer cannot be used; the sign-in stands without it.", { status: answer.status });
    } catch (error) {
      const reason = error instanceof ProviderUnavailableError ? error.reason : "unexpected";
      this.#warn("userinfo", "The userinfo endpoint could not be asked; the sign-in stands without it.", { reason });
    }
    return claims;
  }

  #expiry(expiresIn: number | undefined): EpochSeconds | undefined {
    return expiresIn === undefined ? undefined : Math.floor(epochSeconds(this.#clock) + expiresIn);
  }

  #warnOfScopes(metadata: ProviderMetadata): void {
    if (this.#hasWarnedOfScopes || !defaultScopesLackRefresh(this.#settings, metadata.scopes_supported)) return;
    this.#hasWarnedOfScopes = true;
    this.#log({
      level: "warn",
      code: "W004",
      message: "IDP_SESSION_AUTO_REFRESH is on, but the provider does not announce offline_access, so it will hardly give a refresh token.",
    });
  }

  #warn(endpoint: string, message: string, details: Record<string, string | number>): void {
    this.#log({ level: "warn", code: "provider_unavailable", message, details: { endpoint, ...details } });
  }
}

/** As the meaning of a token answer names it; elsewhere by its status. */
function troubleOf(answer: Answer): string {
  const meaning = meaningOf(answer);
  return meaning.kind === "operator" || meaning.kind === "outage" ? meaning.reason : `http_${String(answer.status)}`;
}

interface TokenOptions {
  /** Whether an answer keeps this process away from the endpoint for a while. */
  readonly isTrouble: (answer: Answer) => boolean;
  readonly signal?: AbortSignal;
}

function isTokenTrouble(answer: Answer): boolean {
  return ["operator", "outage"].includes(meaningOf(answer).kind);
}

/**
 * A code is whatever a visitor says it is. A status of 4xx that blames nobody may be the answer to that very code, of a
 * firewall for instance, and must keep nobody else away.
 */
function isTroubleForAnyCode(answer: Answer): boolean {
  return meaningOf(answer).kind === "outage" || blamesClient(answer);
}

function isServerTrouble({ status }: Answer): boolean {
  return status >= 500 || status === 408 || status === 429;
}
