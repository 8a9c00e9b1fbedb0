import type { Clock, EpochSeconds } from "../clock.js";
import { ProviderRefusedError, ProviderUnavailableError } from "../errors.js";
import type { RefreshRequest, SpentRefresh, VerifiedRefresh } from "../ports/provider.js";
import type { IdInfo } from "../record/identity.js";
import type { SessionRecord } from "../record/record.js";
import type { BestEffortEndpoint } from "./best-effort-endpoint.js";
import type { ProviderMetadata } from "./discovery.js";
import { retryAfterSeconds, type BackOff } from "./endpoint-back-off.js";
import {
  completedByUserinfo,
  confirmedByUserinfo,
  lacksIdentity,
  refreshedClaims,
  withAllOfUserinfo,
  withoutUserinfo,
  type Identity,
} from "./identity.js";
import type { Misconfigurations } from "./misconfiguration.js";
import type { ProviderSettings } from "./provider-settings.js";
import type { TokenEndpoint } from "./token-endpoint.js";
import type { Backchannel, ProviderResponse } from "./transport.js";
import { askUserinfo, userinfoOf } from "./userinfo-response.js";

/** The maximum seconds until the next refresh, after a refresh that userinfo has confirmed. */
const MAX_CONFIRMED = 3600;

interface Options {
  readonly settings: Pick<ProviderSettings, "refreshWithoutIdToken" | "userinfo">;
  readonly clock: Clock;
  readonly backchannel: Backchannel;
  readonly misconfigurations: Misconfigurations;
  readonly tokens: TokenEndpoint;
  readonly endpoint: BestEffortEndpoint;
  /** Of sign-ins that need userinfo. */
  readonly signIns: BackOff;
}

/** One call that cannot continue without userinfo. */
interface RequiredCall {
  readonly accessToken: string;
  /** The subject of the ID token. */
  readonly sub: unknown;
  readonly signal?: AbortSignal;
  /** Completes the log line of an outage. */
  readonly consequence: string;
  /** Starts the back-off of an outage. @returns seconds */
  readonly backOff: (startedAt: number, reason: string, response: ProviderResponse | undefined) => number;
}

/**
 * What userinfo is for: it completes a sign-in, and it confirms a refresh whose response has no ID token. With
 * `IDP_USERINFO=always` it also supplies claims at every sign-in and every refresh, and must respond.
 */
export class UserinfoEndpoint {
  /** `IDP_USERINFO=always`. */
  readonly isRequired: boolean;
  readonly #options: Options;

  constructor(options: Options) {
    this.isRequired = options.settings.userinfo === "always";
    this.#options = options;
  }

  /** @throws ProviderUnavailableError userinfo is required, and the provider has no such endpoint */
  assertAvailable({ userinfo_endpoint: endpoint }: ProviderMetadata): void {
    if (!this.isRequired || endpoint !== undefined) return;
    throw this.#options.misconfigurations.report({
      endpoint: "userinfo",
      reason: "userinfo_endpoint_missing",
      message:
        "IDP_USERINFO is always, but the discovery document has no usable userinfo_endpoint. Set IDP_USERINFO to when-needed, or name " +
        "the endpoint in IDP_PROVIDER_METADATA.",
    });
  }

  /** @throws ProviderUnavailableError userinfo is required, and its requests at sign-ins back off */
  assertReadyToSignIn(): void {
    if (this.isRequired) this.#options.signIns.assertReady();
  }

  /**
   * Adds userinfo's claims to those of a sign-in's ID token: all if userinfo is required, otherwise those about the user if the ID
   * token has none (OpenID Connect Core section 5.4).
   *
   * @throws ProviderUnavailableError, ProviderRefusedError only if userinfo is required
   */
  async complete(metadata: ProviderMetadata, claims: IdInfo, accessToken: string): Promise<Identity> {
    return this.isRequired ? this.#completeAlways(metadata, claims, accessToken) : this.#completeIfNeeded(metadata, claims, accessToken);
  }

  async #completeAlways(metadata: ProviderMetadata, claims: IdInfo, accessToken: string): Promise<Identity> {
    const { clock, signIns } = this.#options;
    this.assertAvailable(metadata);
    const userinfo = await this.#require(metadata, {
      accessToken,
      sub: claims.sub,
      consequence: "The sign-in stops, since IDP_USERINFO is always.",
      backOff: (startedAt, reason, response) => {
        // A response may concern this user only. Without one, the next sign-in would fail too, and its code is not spent.
        if (response === undefined && reason !== "too_large") return signIns.failed(startedAt);
        return retryAfterSeconds(response?.headers.get("retry-after"), clock.now()) ?? 1;
      },
    });
    if (userinfo === undefined) throw this.#signed();
    signIns.succeeded();
    return { ...withAllOfUserinfo(claims, userinfo), userinfo };
  }

  async #completeIfNeeded(metadata: ProviderMetadata, claims: IdInfo, accessToken: string): Promise<Identity> {
    const { userinfo_endpoint: url } = metadata;
    const { endpoint, backchannel } = this.#options;
    const alone = { idInfo: claims, userinfoClaims: [] };
    if (!lacksIdentity(claims) || url === undefined) return alone;
    try {
      const response = await endpoint.send(metadata.issuer, () => askUserinfo(backchannel, url, accessToken));
      const userinfo = userinfoOf(response, claims.sub);
      if (userinfo.kind === "claims") return { ...completedByUserinfo(claims, userinfo.claims), userinfo: userinfo.claims };
      if (userinfo.kind === "signed") this.#signed();
      else endpoint.warn("The userinfo response cannot be used. The sign-in continues without it.", { status: response.status });
    } catch (error) {
      const reason = error instanceof ProviderUnavailableError ? error.reason : "unexpected";
      endpoint.warn("The userinfo endpoint did not respond. The sign-in continues without it.", { reason });
    }
    return alone;
  }

  /** Handles a refresh response without an ID token (Core section 12.2): userinfo must confirm the same user. */
  async confirm(
    metadata: ProviderMetadata,
    spent: SpentRefresh,
    { id_info: before = {}, idp_state: state }: SessionRecord,
    request: RefreshRequest,
  ): Promise<VerifiedRefresh> {
    const { accessToken, receivedAt, accessTokenExpiresAt } = spent;
    this.assertAvailable(metadata);
    if (accessToken === undefined) throw new ProviderRefusedError("access_token_missing");
    if (metadata.userinfo_endpoint === undefined || this.#options.settings.refreshWithoutIdToken === "refuse") {
      this.#options.misconfigurations.report({
        // Not "token": each sign-in, which has an ID token, would reset that endpoint, and the line would repeat.
        endpoint: "userinfo",
        reason: "id_token_missing",
        message:
          "The provider's refresh responses have no ID token, so a session ends at its first refresh. " +
          "If the provider has a userinfo endpoint, set IDP_REFRESH_WITHOUT_ID_TOKEN to userinfo. Otherwise set IDP_SESSION_AUTO_REFRESH to false.",
      });
      throw new ProviderRefusedError("id_token_missing");
    }
    const userinfo = await this.#ofRefresh(metadata, accessToken, before.sub, request);
    if (userinfo === undefined) {
      const error = this.#signed();
      throw this.isRequired ? this.#refreshBlocked(error, request) : new ProviderRefusedError("id_token_missing");
    }
    const lifetime = Math.min(
      MAX_CONFIRMED,
      (accessTokenExpiresAt ?? receivedAt + lifetimeOf(before, state.tokens_received_at)) - receivedAt,
    );
    const names = state.userinfo_claims ?? [];
    const exp = receivedAt + lifetime;
    const identity = this.isRequired
      ? withAllOfUserinfo({ ...withoutUserinfo(before, names), exp }, userinfo)
      : confirmedByUserinfo(before, names, userinfo, exp);
    return { ...identity, userinfo };
  }

  /** Adds userinfo's claims to those of a refreshed ID token. Its earlier claims are replaced or removed. */
  async renew(
    metadata: ProviderMetadata,
    claims: IdInfo,
    { accessToken = "" }: SpentRefresh,
    { id_info: before = {}, idp_state: state }: SessionRecord,
    request: RefreshRequest,
  ): Promise<VerifiedRefresh> {
    this.assertAvailable(metadata);
    const userinfo = await this.#ofRefresh(metadata, accessToken, claims.sub, request);
    if (userinfo === undefined) throw this.#refreshBlocked(this.#signed(), request);
    const { idInfo } = refreshedClaims(claims, withoutUserinfo(before, state.userinfo_claims ?? []), []);
    return { ...withAllOfUserinfo(idInfo, userinfo), userinfo };
  }

  #ofRefresh(
    metadata: ProviderMetadata,
    accessToken: string,
    sub: unknown,
    { session, signal }: RefreshRequest,
  ): Promise<IdInfo | undefined> {
    return this.#require(metadata, {
      ...{ accessToken, sub, signal },
      consequence: "The refresh is not finished. The session is kept.",
      backOff: (startedAt, reason, response) =>
        this.#options.tokens.refreshFailed(session, { startedAt, response, reason, isOperators: false }),
    });
  }

  /**
   * Calls userinfo, which must respond.
   *
   * @returns undefined for a signed response
   * @throws ProviderRefusedError the access token is not accepted, or the claims are about another user
   */
  async #require(
    metadata: ProviderMetadata,
    { accessToken, sub, signal, consequence, backOff }: RequiredCall,
  ): Promise<IdInfo | undefined> {
    const { clock, backchannel, endpoint, misconfigurations } = this.#options;
    const startedAt = clock.monotonic();
    const outage = (reason: string, response?: ProviderResponse, cause?: unknown): ProviderUnavailableError => {
      endpoint.outage(metadata.issuer, reason, startedAt);
      const retryAfter = backOff(startedAt, reason, response);
      endpoint.warn(`The userinfo endpoint gave no usable response. ${consequence}`, { reason });
      return new ProviderUnavailableError(reason, { retryAfter, cause });
    };
    const response = await askUserinfo(backchannel, metadata.userinfo_endpoint ?? "", accessToken, signal).catch((error: unknown) => {
      if (!(error instanceof ProviderUnavailableError)) throw error;
      throw outage(error.reason, undefined, error.cause);
    });
    const userinfo = userinfoOf(response, sub);
    if (userinfo.kind === "outage") throw outage(userinfo.reason, response);
    if (userinfo.kind === "refused") throw new ProviderRefusedError(userinfo.reason);
    if (userinfo.kind === "signed") return undefined;
    if (this.isRequired) misconfigurations.resolved("userinfo");
    return userinfo.claims;
  }

  /** The next refresh would get the same response. */
  #refreshBlocked(error: ProviderUnavailableError, { session }: RefreshRequest): ProviderUnavailableError {
    const startedAt = this.#options.clock.monotonic();
    this.#options.tokens.refreshFailed(session, { startedAt, response: undefined, reason: error.reason, isOperators: true });
    return error;
  }

  /** Reports a signed response. @returns the error to throw where userinfo is required */
  #signed(): ProviderUnavailableError {
    return this.#options.misconfigurations.report({
      endpoint: "userinfo",
      reason: "userinfo_signed",
      message:
        "The userinfo endpoint sends a signed response (application/jwt), which idpauth does not support. Have the provider send JSON.",
    });
  }
}

/** Returns the lifetime of the last ID token in seconds, from its receipt. Old records lack the receipt; then from its `iat`. */
function lifetimeOf({ exp, iat }: IdInfo, receivedAt: EpochSeconds | undefined): number {
  const from = receivedAt ?? iat;
  const seconds = typeof exp === "number" && typeof from === "number" ? exp - from : NaN;
  return seconds > 0 ? Math.floor(seconds) : MAX_CONFIRMED;
}
