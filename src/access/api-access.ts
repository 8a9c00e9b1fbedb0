/** The access token for an API. Loaded by its first use. */
import { epochSeconds, type Clock, type EpochSeconds } from "../clock.js";
import {
  ApiTokenError,
  isOutage,
  ProviderRefusedError,
  ProviderUnavailableError,
} from "../errors.js";
import type { EventHub } from "../events/event-hub.js";
import { reasonLine } from "../events/log-lines.js";
import type { TokenTarget } from "../ports/provider.js";
import type { UserSession } from "../ports/user-session.js";
import type { SpentRefresh } from "../record/credentials.js";
import type { AccessToken } from "../record/dpop.js";
import type { ApiEntry, SessionRecord } from "../record/record.js";
import { withDpop, withoutLease } from "../record/refresh-changes.js";
import { judge, type PolicySettings } from "../record/session-policy.js";
import {
  apiEntry,
  isApiTokenDue,
  refusedEntry,
  unexpiredToken,
  usableToken,
  withApiEntry,
} from "../record/stored-api-tokens.js";
import { isRefreshable, type WantedValidity } from "../record/token-validity.js";
import { lackOf, type Lack, type MissingReason } from "../record/why-no-api-token.js";
import { withoutUndefined } from "../record/without-undefined.js";
import type { Need } from "./lease.js";
import type { ApiRefresh, ApiRenewal, Renewed } from "./refresh-attempt.js";
import { isTokenRejected } from "./rejected-token.js";
import type { SessionAccess } from "./session-access.js";
import type { Owners } from "./session-owner.js";
import { needAfter, type Refresher } from "./shared-refresh.js";

/** The refreshes of other requests after which a request gives up. */
const MAX_TURNS = 3;

/** What an operator reads if nothing can bring a signed-in user's token. */
const MISSING: Readonly<Record<MissingReason, string>> = {
  auto_refresh_off:
    "IDP_SESSION_AUTO_REFRESH is off, so idpauth doesn't use refresh tokens, and an API's own token comes from one. Turn it on, or leave out the API's `resource`, `audience` and `scope`.",
  no_refresh_token:
    "The provider didn't send a refresh token, although a login has asked for it, and an API's own token comes from one. See docs/providers/index.md.",
  refresh_rejected:
    "The provider refused the refresh token of a login a moment ago, or the API rejected the login's token, and nothing can renew it.",
  token_expired: "The login's own token had expired when it was needed, a moment later.",
};

/** A call for an API's access token. */
export interface ApiTokenRequest extends WantedValidity {
  readonly session: UserSession;
  readonly api: RequestedApi;
}

export interface ApiAccessParts {
  readonly policy: PolicySettings;
  readonly access: SessionAccess;
  readonly owners: Owners;
  readonly refresher: Refresher;
  readonly clock: Clock;
  readonly events: EventHub;
  /** The path of the endpoints, as browsers see it. */
  readonly publicPath: string;
}

/** An API, and what its token is requested with. */
export interface RequestedApi extends TokenTarget {
  /**
   * What its access tokens are requested with, as one text. Undefined: it gets the session's token.
   */
  readonly target: string | undefined;
  /** The key of the provider whose users may use it. Undefined: any. */
  readonly provider: string | undefined;
}

/**
 * Returns the access token for an API. Null: the user is signed out.
 *
 * @throws ApiTokenError there is no token for this API; the session continues
 * @throws ProviderUnavailableError | StoreUnavailableError in an outage
 */
export async function apiToken(
  request: ApiTokenRequest,
  parts: ApiAccessParts,
): Promise<AccessToken | null> {
  const { session, api } = request;
  const { access, policy } = parts;
  const outcome = await access.access(session);
  if (!outcome.authenticated) return null;
  const { provider } = outcome.owner;
  if ((api.provider ?? provider) !== provider)
    throw new ApiTokenError("api_provider_mismatch", api.api, "provider_required");
  if (api.target !== undefined)
    return new OwnTokenCall(request, { target: api.target, at: outcome.at }, parts).token(
      outcome.record,
    );
  const own = await access.ownToken(session, request, outcome);
  if (own.kind === "token") return own.token;
  if (own.kind === "ended") return null;
  const { sessionAutoRefresh } = policy;
  const { record } = own;
  const lack = lackOf(record, api, {
    sessionAutoRefresh,
    now: outcome.at,
    isTokenRejected: isTokenRejected(record),
  });
  throw withoutToken({ record, lack, api: api.api }, parts);
}

/** What decides a call for an API's own token. */
interface DecidedBy {
  /** What the token is requested with. */
  readonly target: string;
  /** When the call was decided. Only a refresh under way reads the clock again. */
  readonly at: EpochSeconds;
}

/** A call for the token of an API whose tokens are its own. */
class OwnTokenCall implements ApiRenewal {
  readonly name: string;
  readonly #request: ApiTokenRequest;
  readonly #target: string;
  readonly #at: EpochSeconds;
  readonly #parts: ApiAccessParts;
  /** A token has come for this call. */
  #hasRenewed = false;

  constructor(request: ApiTokenRequest, { target, at }: DecidedBy, parts: ApiAccessParts) {
    this.name = request.api.api;
    this.#request = request;
    this.#target = target;
    this.#at = at;
    this.#parts = parts;
  }

  async token(first: SessionRecord): Promise<AccessToken | null> {
    const { session, api, rejected } = this.#request;
    const { policy, refresher } = this.#parts;
    const at = this.#at;
    const needOf = (fresh: SessionRecord) => this.#needOf(fresh, this.#now);
    let record: SessionRecord | undefined = first;
    let need = this.#needOf(first, at);
    let judgedAt = at;
    for (let turn = 0; record !== undefined && need !== undefined; turn += 1) {
      // A token that has expired when it comes isn't requested again at once.
      if ((this.#hasRenewed && need === "api") || turn === MAX_TURNS)
        throw new ProviderUnavailableError("refresh_pending");
      const held: SessionRecord = record;
      const before: ApiEntry | undefined = this.#entryIn(held);
      try {
        record = await refresher.refresh(session, needOf, this);
      } catch (error) {
        // In an outage, a token that has not expired is still returned.
        const token = isOutage(error) ? unexpiredToken(before, this.#now) : undefined;
        if (token === undefined) throw error;
        return this.#bound(token, held);
      }
      need = record && this.#needOf(record, at);
      // A limit that was reached during the refresh isn't lifted by it.
      judgedAt = this.#now;
    }
    if (record === undefined || judge(record, policy, judgedAt).kind === "ended") return null;
    const remembering = this.withoutRejected(record);
    // No refresh was tried, or another call's was refused, which didn't know of the rejection.
    if (remembering !== record) await session.update((fresh) => this.withoutRejected(fresh));
    const token = usableToken(this.#entryIn(remembering), rejected, at);
    if (token !== undefined) return this.#bound(token, remembering);
    const { sessionAutoRefresh } = policy;
    const lack = lackOf(remembering, api, { sessionAutoRefresh, now: at });
    throw withoutToken({ record: remembering, lack, api: this.name }, this.#parts);
  }

  /** What a record still needs before it has a token for this call. */
  #needOf(record: SessionRecord, now: EpochSeconds): Need | undefined {
    const { policy } = this.#parts;
    const verdict = judge(record, policy, now);
    if (verdict.kind === "refresh") return needAfter(verdict);
    if (verdict.kind === "ended" || !isRefreshable(record, policy)) return undefined;
    return isApiTokenDue(this.#entryIn(record), this.#request, now) ? "api" : undefined;
  }

  withoutRejected(record: SessionRecord): SessionRecord {
    const { rejected } = this.#request;
    const entry = this.#entryIn(record);
    if (rejected === undefined || entry?.token !== rejected) return record;
    if (isRefreshable(record, this.#parts.policy)) return record;
    const refusal = { target: this.#target, refused: "refresh_rejected", rejected };
    return this.#withEntry(record, refusedEntry(entry, refusal, this.#at));
  }

  async renew(refresh: ApiRefresh, record: SessionRecord): Promise<Renewed> {
    const asked = {
      refreshToken: record.credentials?.refresh_token ?? "",
      session: refresh.key,
      signal: refresh.signal,
      dpop: record.idp_state.dpop,
      target: this.#request.api,
    };
    try {
      const outcome = await refresh.spend(asked);
      if (outcome.kind === "overtaken") return { kind: "stored", record: outcome.record };
      const { spent } = outcome;
      await refresh.provider.checkApiToken(spent, record, asked);
      this.#hasRenewed = true;
      const entry = this.#entryOf(spent, record);
      refresh.observation?.note({ outcome: "refreshed" });
      this.#parts.events.emit("refresh", { ...refresh.about, api: this.name });
      const kept = await refresh.keep(spent, (fresh) =>
        withoutLease(withDpop(this.#withEntry(fresh, entry), spent.dpop)),
      );
      return { kind: "stored", record: kept.record };
    } catch (error) {
      // `bad_token`: the refresh token itself is dead, so the session gets no other one.
      if (!(error instanceof ProviderRefusedError) || error.reason === "bad_token") throw error;
      return this.#refused(refresh, record, error);
    }
  }

  async #refused(
    refresh: ApiRefresh,
    record: SessionRecord,
    { reason, claims }: ProviderRefusedError,
  ): Promise<Renewed> {
    refresh.observation?.note({ outcome: "refused" });
    this.#parts.events.refused("api_token", reason, { ...refresh.about, api: this.name });
    const { rejected } = this.#request;
    const refusal = { target: this.#target, refused: reason, claims, rejected };
    const change = (fresh: SessionRecord) =>
      this.#withEntry(fresh, refusedEntry(this.#entryIn(record), refusal, this.#now));
    // It may be the API that is refused, or the refresh token: the base refresh that follows under
    // this lease shows which.
    if (reason === "invalid_grant") return { kind: "refused", change };
    const written = await refresh.write((fresh) => withoutLease(change(fresh)));
    return { kind: "stored", record: written.record };
  }

  #bound(token: string, record: SessionRecord): AccessToken {
    const isBound = this.#entryIn(record)?.token_type === "DPoP";
    return { value: token, dpopKey: isBound ? record.idp_state.dpop?.key : undefined };
  }

  #entryIn(record: SessionRecord): ApiEntry | undefined {
    return apiEntry(record, this.name, this.#target);
  }

  /** The entry of a token that has come. @param before the record that it was requested from */
  #entryOf(spent: SpentRefresh, before: SessionRecord): ApiEntry {
    const { rejected } = this.#request;
    const isForced = rejected !== undefined && this.#entryIn(before)?.token === rejected;
    return withoutUndefined({
      target: this.#target,
      at: spent.receivedAt,
      token: spent.accessToken ?? "",
      token_type: spent.tokenType,
      expires_at: spent.accessTokenExpiresAt,
      forced: isForced ? true : undefined,
    });
  }

  #withEntry(fresh: SessionRecord, entry: ApiEntry): SessionRecord {
    return withApiEntry(fresh, { api: this.name, entry, now: this.#now });
  }

  get #now(): EpochSeconds {
    return epochSeconds(this.#parts.clock);
  }
}

/** A user who is signed in, and gets no token. */
interface WithoutToken {
  readonly record: SessionRecord;
  readonly lack: Lack;
  /** The API's name. */
  readonly api: string;
}

function withoutToken(
  { record, lack, api }: WithoutToken,
  { owners, events, publicPath }: ApiAccessParts,
): ApiTokenError {
  const { provider } = owners.of(record);
  const { reason } = lack;
  if (lack.loginHelps) {
    const asks = new URLSearchParams(withoutUndefined({ provider, api }));
    const loginUrl = `${publicPath}login/?${asks.toString()}`;
    return new ApiTokenError("api_sign_in_required", api, reason, loginUrl);
  }
  if (lack.kind === "refused") return new ApiTokenError("api_token_refused", api, reason);
  // Once for each reason: every request for this API finds the same.
  const message = `A signed-in user gets no access token for the API ${api} (${reason}). ${MISSING[lack.reason]}`;
  events.logOnce({ ...reasonLine("api_token_failed", reason, { api }), message }, provider);
  return new ApiTokenError("api_token_missing", api, reason);
}
