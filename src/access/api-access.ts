/** The access token for an API. Loaded by its first use. */
import { epochSeconds } from "../clock.js";
import {
  ApiTokenError,
  isOutage,
  ProviderRefusedError,
  ProviderUnavailableError,
} from "../errors.js";
import { identityOf } from "../events/event-hub.js";
import type { TokenTarget } from "../ports/provider.js";
import type { UserSession } from "../ports/user-session.js";
import { apiEntry, isRecent, withApiEntry } from "../record/api-tokens.js";
import { clientOf, type ApiEntry, type SessionRecord } from "../record/record.js";
import { withoutLease } from "../record/refresh-changes.js";
import { judge } from "../record/session-policy.js";
import { NEEDS_USER } from "../record/silent-login.js";
import type { Need } from "./lease.js";
import type { RenewApi } from "./refresh-attempt.js";
import type { SessionAccess, SessionAccessOptions } from "./session-access.js";

/** The refreshes of other requests after which a request gives up. */
const MOST_TURNS = 3;

/**
 * The refusals that a login can help with: it asks the user. `invalid_grant` is here after a base
 * refresh has shown that the session is fine.
 */
const ASKS_USER: readonly string[] = [...NEEDS_USER, "mfa_required", "invalid_grant"];

/**
 * Refusals of an API with `consent: "later"` that a login can help with once: before a login has
 * asked for the API, they can mean that the user hasn't consented. Afterwards they are the
 * operator's mistake, and another login would end the same way.
 */
const UNCONSENTED: readonly string[] = ["invalid_target", "invalid_scope"];

/** What `getAccessToken` is asked. */
export interface ApiTokenOptions {
  /** Seconds for which the token must stay valid; at most half of its life counts. */
  readonly minValidity: number;
  /** A token that the API has rejected. */
  readonly rejected?: string | undefined;
}

export interface ApiAccessParts extends Pick<
  SessionAccessOptions,
  "policy" | "refresher" | "registrations" | "clock" | "events"
> {
  readonly access: SessionAccess;
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
 * Returns the access token for an API. Null: the user is signed out, or the token has expired and
 * cannot be refreshed.
 *
 * @throws ApiTokenError the provider gives no token for this API; the session continues
 * @throws ProviderUnavailableError | StoreUnavailableError in an outage
 */
// eslint-disable-next-line max-lines-per-function -- Small functions that share its variables.
export async function apiToken(
  session: UserSession,
  target: RequestedApi,
  { minValidity, rejected }: ApiTokenOptions,
  parts: ApiAccessParts,
): Promise<string | null> {
  const { policy, access, refresher, clock, events, registrations } = parts;
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

  const about = (record: SessionRecord) =>
    identityOf(record.id_info, clientOf(record, registrations)?.key);
  const left = ({ expires_at: expiresAt = Infinity }: ApiEntry) => expiresAt - now();
  const tokenOf = (entry: ApiEntry | undefined) =>
    entry !== undefined && left(entry) > 0 ? entry.token : undefined;

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
      events.emit("refresh", { ...about(record), api });
      return await refresh.keep(spent, record, (fresh) => withoutLease(store(fresh, entry)));
    } catch (error) {
      // `bad_token`: the refresh token itself is dead, so the session gets no other one.
      if (!(error instanceof ProviderRefusedError) || error.reason === "bad_token") throw error;
      const { reason } = error;
      events.refused("api_token", reason, { ...about(record), api });
      const kept = [undefined, rejected].includes(tokenOf(entryOf(record))) ? {} : entryOf(record);
      const refuse = (fresh: SessionRecord) =>
        store(fresh, { ...kept, at: now(), refused: reason });
      if (reason !== "invalid_grant")
        return await refresh.write((fresh) => withoutLease(refuse(fresh)));
      // It may be the API that is refused, or the refresh token: the base refresh that follows
      // under this lease shows which.
      return refuse;
    }
  };

  const outcome = await access.access(session);
  if (!outcome.authenticated) return null;
  const provider = clientOf(outcome.record, registrations)?.key;
  if ((target.provider ?? provider) !== provider)
    throw new ApiTokenError("api_provider_mismatch", api, "provider_required");
  if (target.target === undefined) return access.accessToken(session, minValidity, rejected);
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
  const token = tokenOf(entry) ?? null;
  // A refusal of an early renewal is no refusal of the token that is still valid.
  if (entry?.refused === undefined || (token !== null && token !== rejected)) return token;
  const isUnasked = target.consentLater && record.idp_state.asked_apis?.includes(api) !== true;
  const isForUser =
    ASKS_USER.includes(entry.refused) || (isUnasked && UNCONSENTED.includes(entry.refused));
  if (!isForUser) throw new ApiTokenError("api_token_refused", api, entry.refused);
  const asks = new URLSearchParams({ ...(provider !== undefined && { provider }), api }).toString();
  throw new ApiTokenError(
    "api_sign_in_required",
    api,
    entry.refused,
    `${parts.publicPath}login/?${asks}`,
  );
}
