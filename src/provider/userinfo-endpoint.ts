import type { Clock, EpochSeconds } from "../clock.js";
import { ProviderRefusedError, ProviderUnavailableError } from "../errors.js";
import type { RefreshRequest, SpentRefresh, VerifiedRefresh } from "../ports/provider.js";
import type { IdInfo } from "../record/identity.js";
import type { SessionRecord } from "../record/record.js";
import type { BestEffortEndpoint } from "./best-effort-endpoint.js";
import type { ProviderMetadata } from "./discovery.js";
import { completedByUserinfo, confirmedByUserinfo, lacksIdentity, type Identity } from "./identity.js";
import type { Misconfigurations } from "./misconfiguration.js";
import type { ProviderSettings } from "./provider-settings.js";
import type { TokenEndpoint } from "./token-endpoint.js";
import type { Backchannel, ProviderResponse } from "./transport.js";
import { askUserinfo, userinfoOf } from "./userinfo-response.js";

/** The maximum seconds until the next refresh, after a refresh that userinfo has confirmed. */
const MAX_CONFIRMED = 3600;

interface Options {
  readonly settings: Pick<ProviderSettings, "refreshWithoutIdToken">;
  readonly clock: Clock;
  readonly backchannel: Backchannel;
  readonly misconfigurations: Misconfigurations;
  readonly tokens: TokenEndpoint;
  readonly endpoint: BestEffortEndpoint;
}

/** What userinfo is for: it completes a sign-in, and it confirms a refresh whose response has no ID token. */
export class UserinfoEndpoint {
  readonly #settings: Options["settings"];
  readonly #clock: Clock;
  readonly #backchannel: Backchannel;
  readonly #misconfigurations: Misconfigurations;
  readonly #tokens: TokenEndpoint;
  readonly #endpoint: BestEffortEndpoint;

  constructor({ settings, clock, backchannel, misconfigurations, tokens, endpoint }: Options) {
    this.#settings = settings;
    this.#clock = clock;
    this.#backchannel = backchannel;
    this.#misconfigurations = misconfigurations;
    this.#tokens = tokens;
    this.#endpoint = endpoint;
  }

  /** Adds userinfo's claims to an ID token without claims about the user (OpenID Connect Core section 5.4). Never rejects. */
  async complete(metadata: ProviderMetadata, claims: IdInfo, accessToken: string): Promise<Identity> {
    const endpoint = metadata.userinfo_endpoint;
    const alone = { idInfo: claims, userinfoClaims: [] };
    if (!lacksIdentity(claims) || endpoint === undefined) return alone;
    try {
      const response = await this.#endpoint.send(metadata.issuer, () => askUserinfo(this.#backchannel, endpoint, accessToken));
      const userinfo = userinfoOf(response, claims.sub);
      if (userinfo.kind === "claims") return completedByUserinfo(claims, userinfo.claims);
      if (userinfo.kind === "signed") this.#reportSigned();
      else this.#endpoint.warn("The userinfo response cannot be used. The sign-in continues without it.", { status: response.status });
    } catch (error) {
      const reason = error instanceof ProviderUnavailableError ? error.reason : "unexpected";
      this.#endpoint.warn("The userinfo endpoint did not respond. The sign-in continues without it.", { reason });
    }
    return alone;
  }

  /** Handles a refresh response without an ID token (Core section 12.2): userinfo must confirm the same user. */
  async confirm(
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
      this.#endpoint.outage(metadata.issuer, reason, startedAt);
      const retryAfter = this.#tokens.refreshFailed(session, { startedAt, response, reason, isOperators: false });
      this.#endpoint.warn("The userinfo endpoint could not confirm a refresh. The session is kept.", { reason });
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
      this.#reportSigned();
      throw new ProviderRefusedError("id_token_missing");
    }
    const lifetime = Math.min(
      MAX_CONFIRMED,
      (accessTokenExpiresAt ?? receivedAt + lifetimeOf(before, state.tokens_received_at)) - receivedAt,
    );
    return confirmedByUserinfo(before, state.userinfo_claims ?? [], userinfo.claims, receivedAt + lifetime);
  }

  #reportSigned(): void {
    this.#misconfigurations.report({
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
