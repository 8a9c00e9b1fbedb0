/** The access token for an API. Loaded by its first use. */
import { epochSeconds, type Clock } from "../clock.js";
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
import {
  apiEntry,
  isRecent,
  lackOf,
  withApiEntry,
  type MissingReason,
} from "../record/stored-api-tokens.js";
import type { ApiEntry, SessionRecord } from "../record/record.js";
import { withoutLease } from "../record/refresh-changes.js";
import { judge, type PolicySettings } from "../record/session-policy.js";
import type { Need } from "./lease.js";
import type { RenewApi } from "./refresh-attempt.js";
import type { SessionAccess } from "./session-access.js";
import type { Refresher } from "./shared-refresh.js";

/** The refreshes of other requests after which a request gives up. */
const MOST_TURNS = 3;

/** What an operator reads if nothing can bring a signed-in user's token. */
const MISSING: Readonly<Record<MissingReason, string>> = {
  auto_refresh_off:
    "IDP_SESSION_AUTO_REFRESH is off, so idpauth doesn't use refresh tokens, and an API's own token comes from one. Turn it on, or leave out the API's `resource`, `audience` and `scope`.",
  no_refresh_token:
    "The provider didn't send a refresh token, although a login has asked for it, and an API's own token comes from one. See docs/how-to/providers.md.",
  refresh_rejected: "The provider refused the refresh token of a login a moment ago.",
  token_expired: "The login's own token had expired when it was needed, a moment later.",
};

/** What `getAccessToken` is asked. */
export interface ApiTokenOptions {
  /** Seconds for which the token must stay valid; at most half of its life counts. */
  readonly minValidity: number;
  /** A token that the API has rejected. */
  readonly rejected?: string | undefined;
}

export interface ApiAccessParts {
  readonly policy: PolicySettings;
  readonly access: SessionAccess;
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
// eslint-disable-next-line max-lines-per-function -- Small functions that share its variables.
export async function apiToken(
  session: UserSession,
  target: RequestedApi,
  { minValidity, rejected }: ApiTokenOptions,
  parts: ApiAccessParts,
): Promise<string | null> {
  const { policy, access, refresher, clock, events } = parts;
  const { api } = target;
  const { target: name = "" } = target;
  const now = () => epochSeconds(clock);
  const entryOf = (record: SessionRecord) => apiEntry(record, api, name);

  function needOf(record: SessionRecord): Need | undefined {
    const verdict = judge(record, policy, now());
    if (verdict.kind === "refresh") return verdict.reason === "review_due" ? "review" : "tokens";
    if (
      verdict.kind === "ended" ||
      !policy.sessionAutoRefresh ||
      record.credentials?.refresh_token === undefined
    )
      return undefined;
    const entry = entryOf(record);
    if (entry?.refused !== undefined && isRecent(entry.at, now())) return undefined;
    if (entry?.token === undefined || entry.refused !== undefined) return "api";
    if (entry.token === rejected)
      return entry.forced === true && isRecent(entry.at, now()) ? undefined : "api";
    const lifetime = (entry.expires_at ?? Infinity) - entry.at;
    return tokenOf(entry) !== undefined && left(entry) >= Math.min(minValidity, lifetime / 2)
      ? undefined
      : "api";
  }

  const left = ({ expires_at: expiresAt = Infinity }: ApiEntry) => expiresAt - now();
  const tokenOf = (entry: ApiEntry | undefined) =>
    entry !== undefined && left(entry) > 0 ? entry.token : undefined;

  /** Returns the error for a user who is signed in, and gets no token. */
  function withoutToken(record: SessionRecord): ApiTokenError {
    const { provider } = access.ownerOf(record);
    const lack = lackOf(record, target, policy, now());
    const { reason } = lack;
    if (lack.loginHelps) {
      const asks = new URLSearchParams({ ...(provider !== undefined && { provider }), api });
      const loginUrl = `${parts.publicPath}login/?${asks.toString()}`;
      return new ApiTokenError("api_sign_in_required", api, reason, loginUrl);
    }
    if (lack.kind === "refused") return new ApiTokenError("api_token_refused", api, reason);
    // Once for each reason: every request for this API finds the same.
    const message = `A signed-in user gets no access token for the API ${api} (${reason}). ${MISSING[lack.reason]}`;
    events.logOnce({ ...reasonLine("api_token_failed", reason, { api }), message }, provider);
    return new ApiTokenError("api_token_missing", api, reason);
  }

  let renewals = 0;
  const renew: RenewApi = async (refresh, record) => {
    const asked = {
      refreshToken: record.credentials?.refresh_token ?? "",
      session: refresh.key,
      signal: refresh.signal,
      target,
    };
    const store = (fresh: SessionRecord, entry: Omit<ApiEntry, "target">) =>
      withApiEntry(fresh, api, { target: name, ...entry }, now());
    try {
      const outcome = await refresh.spend(record, asked);
      if (outcome.spent === undefined) return outcome;
      const { spent } = outcome;
      await refresh.provider.checkApiToken(spent, record, asked);
      renewals += 1;
      const { accessToken: token = "", receivedAt: at, accessTokenExpiresAt: expiresAt } = spent;
      const forced = rejected !== undefined && entryOf(record)?.token === rejected;
      const entry = {
        at,
        token,
        ...(expiresAt !== undefined && { expires_at: expiresAt }),
        ...(forced && { forced: true as const }),
      };
      events.emit("refresh", { ...access.ownerOf(record).identity, api });
      return await refresh.keep(spent, record, (fresh) => withoutLease(store(fresh, entry)));
    } catch (error) {
      // `bad_token`: the refresh token itself is dead, so the session gets no other one.
      if (!(error instanceof ProviderRefusedError) || error.reason === "bad_token") throw error;
      const { reason, claims } = error;
      events.refused("api_token", reason, { ...access.ownerOf(record).identity, api });
      const { claims: _old, ...before } = entryOf(record) ?? {};
      const kept = [undefined, rejected].includes(tokenOf(entryOf(record))) ? {} : before;
      const refuse = (fresh: SessionRecord) =>
        store(fresh, {
          ...kept,
          at: now(),
          refused: reason,
          ...(claims !== undefined && { claims }),
        });
      if (reason !== "invalid_grant")
        return await refresh.write((fresh) => withoutLease(refuse(fresh)));
      // It may be the API that is refused, or the refresh token: the base refresh that follows
      // under this lease shows which.
      return refuse;
    }
  };

  const outcome = await access.access(session);
  if (!outcome.authenticated) return null;
  const { provider } = outcome.owner;
  if ((target.provider ?? provider) !== provider)
    throw new ApiTokenError("api_provider_mismatch", api, "provider_required");
  if (target.target === undefined) {
    const token = await access.accessToken(session, minValidity, rejected);
    const newest = token === null ? await session.read() : undefined;
    if (newest === undefined || judge(newest, policy, now()).kind === "ended") return token;
    throw withoutToken(newest);
  }
  let record: SessionRecord | undefined = outcome.record;
  for (let turn = 0; record !== undefined && needOf(record) !== undefined; turn += 1) {
    // A token that has expired when it comes isn't requested again at once.
    if ((renewals > 0 && needOf(record) === "api") || turn === MOST_TURNS)
      throw new ProviderUnavailableError("refresh_pending");
    const before: ApiEntry | undefined = entryOf(record);
    try {
      record = await refresher.refresh(session, needOf, { name: api, renew });
    } catch (error) {
      // In an outage, a token that has not expired is still returned.
      const token = isOutage(error) ? tokenOf(before) : undefined;
      if (token === undefined) throw error;
      return token;
    }
  }
  if (record === undefined || judge(record, policy, now()).kind === "ended") return null;
  const entry = entryOf(record);
  const token = tokenOf(entry);
  // A refusal of an early renewal is no refusal of the token that is still valid.
  if (token !== undefined && (entry?.refused === undefined || token !== rejected)) return token;
  throw withoutToken(record);
}
