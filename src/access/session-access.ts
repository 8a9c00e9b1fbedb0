import { epochSeconds, type EpochSeconds } from "../clock.js";
import { isOutage, ProviderUnavailableError } from "../errors.js";
import type { Registration } from "../ports/registration.js";
import type { UserSession } from "../ports/user-session.js";
import type { Credentials } from "../record/credentials.js";
import type { AccessToken } from "../record/dpop.js";
import type { EndReason } from "../record/end-reason.js";
import { isRecent } from "../record/recent-refusal.js";
import type { SessionRecord } from "../record/record.js";
import { judge, type PolicySettings, type Verdict } from "../record/session-policy.js";
import {
  accessTokenLife,
  isRefreshable,
  isUnexpired,
  staysValid,
  type WantedValidity,
} from "../record/token-validity.js";
import type { AccessContext } from "./access-context.js";
import { createEndedEvent, type SeenEnd } from "./ended-event.js";
import type { Need } from "./lease.js";
import { createOptionalWrites } from "./optional-writes.js";
import { isTokenRejected, withRejectedToken } from "./rejected-token.js";
import type { Owners, SessionOwner } from "./session-owner.js";
import { needAfter, type Refresher } from "./shared-refresh.js";

/** The result of an access: a record of a signed-in user, or the reason why there is none. */
export type Access<Own extends Registration = Registration> = SignedIn<Own> | SignedOut<Own>;

/**
 * When a request was decided. Whatever follows from the decision counts from this time and doesn't
 * read the clock again: otherwise what has just been decided could have changed.
 */
interface Decided {
  readonly at: EpochSeconds;
}

/** A session whose user is signed in, or was until it ended. */
export interface OwnedSession<Own extends Registration = Registration> {
  readonly record: AuthenticatedRecord;
  readonly owner: SessionOwner<Own>;
}

export interface SignedIn<Own extends Registration = Registration>
  extends OwnedSession<Own>, Decided {
  readonly authenticated: true;
}

export interface SignedOut<Own extends Registration = Registration> extends Decided {
  readonly authenticated: false;
  readonly reason: EndReason;
  readonly record: SessionRecord | undefined;
  readonly owner: SessionOwner<Own>;
}

export type AuthenticatedRecord = SessionRecord & { readonly credentials: Credentials };

/**
 * The result of a check without side effects. It has two more reasons: a refresh, or the
 * application's code, would decide.
 */
export interface Explanation {
  /** Whether the session is valid without a refresh. */
  readonly authenticated: boolean;
  /** Null if `authenticated`. */
  readonly reason: EndReason | "id_token_expired" | "review_due" | null;
}

/** What a call gets of the session's own access token. */
export type OwnToken =
  | { readonly kind: "token"; readonly token: AccessToken }
  /** The user is signed out. */
  | { readonly kind: "ended" }
  /** The user is signed in, and the token can't be used and can't be renewed. */
  | { readonly kind: "missing"; readonly record: SessionRecord };

export interface AccessOptions {
  readonly slide?: boolean;
  readonly sendsCookie?: boolean;
}

const NO_OPTIONS: AccessOptions = {};

export interface SessionAccess<Own extends Registration = Registration> {
  /**
   * Checks the policy, refreshes if necessary and stores the time of the access: what
   * `getCredentials`, the probe and the guard do.
   *
   * @param options `slide` (default true): store the time of the access; `sendsCookie` (default
   *   false): the response sends the session's cookies
   * @throws ProviderUnavailableError | StoreUnavailableError in an outage; the session stays as it
   *   is
   */
  access(session: UserSession, options?: AccessOptions): Promise<Access<Own>>;
  /** Keeps the record of a session that the request ends as what it saw, if its user was signed in. */
  sawLast(session: UserSession, record: SessionRecord): void;
  /** Checks the policy and changes nothing. */
  explain(session: UserSession): Promise<Explanation>;
  /**
   * Returns the access token, refreshed if it expires within `minValidity` seconds, or if it is
   * `rejected`. Null: the user is signed out, or the token has expired or was rejected, and cannot
   * be refreshed.
   *
   * @param rejected a token that an API has rejected
   */
  accessToken(session: UserSession, minValidity: number, rejected?: string): Promise<string | null>;
  /** The same for a session that {@link access} has just let pass. */
  ownToken(
    session: UserSession,
    wanted: WantedValidity,
    access: Pick<SignedIn, "record" | "at">,
  ): Promise<OwnToken>;
}

export interface SessionAccessOptions<
  Own extends Registration = Registration,
> extends AccessContext {
  readonly owners: Owners<Own>;
  readonly policy: PolicySettings;
  readonly refresher: Refresher;
}

export function createSessionAccess<Own extends Registration>(
  options: SessionAccessOptions<Own>,
): SessionAccess<Own> {
  const { policy, owners, refresher, clock, events } = options;
  const endedEvent = createEndedEvent(options);
  const now = () => epochSeconds(clock);
  const writeIfPossible = createOptionalWrites(clock);
  const needOf = (record: SessionRecord) => needAfter(judge(record, policy, now()));

  function reportEnd(
    session: UserSession,
    record: SessionRecord,
    end: SeenEnd,
  ): Promise<void> | undefined {
    return writeIfPossible(session, () => endedEvent.report(session, record, end));
  }

  function touch(
    session: UserSession,
    at: EpochSeconds,
    { slide = true, sendsCookie = false }: AccessOptions,
  ): Promise<void> | undefined {
    const stamp = slide && policy.sessionIdleTimeout !== null ? at : null;
    return writeIfPossible(session, () => session.touch(stamp, sendsCookie));
  }

  /** Runs for every guarded request. It has no closures, which would make its variables slower. */
  async function access(
    session: UserSession,
    accessOptions: AccessOptions = NO_OPTIONS,
  ): Promise<Access<Own>> {
    let record: SessionRecord | undefined;
    try {
      record = await session.read();
    } catch (error) {
      events.failed("session", error);
      throw error;
    }
    if (record === undefined && session.removedKey !== undefined)
      endedEvent.reportRemoved(session.removedKey);
    else if (record === undefined && session.isUnreadable)
      events.refused("session", "session_unreadable");
    let at = now();
    let verdict = judge(record, policy, at);
    if (verdict.kind === "refresh") {
      record = await refresher.refresh(session, needOf);
      // Another decision: a limit that was reached during the refresh isn't lifted by it.
      at = now();
      verdict = afterRefresh(judge(record, policy, at));
    }
    if (verdict.kind === "ended") {
      const { reason } = verdict;
      if (record?.credentials !== undefined && record.idp_state.ended !== reason)
        await reportEnd(session, record, { reason, at });
      return {
        authenticated: false,
        at,
        reason: record === undefined ? (session.endedBy ?? verdict.reason) : verdict.reason,
        record,
        owner: owners.of(record),
      };
    }
    session.seen ??= { record: record as SessionRecord, at };
    const written = touch(session, at, accessOptions);
    if (written !== undefined) await written;
    return {
      authenticated: true,
      at,
      record: record as AuthenticatedRecord,
      owner: owners.of(record),
    };
  }

  async function explain(session: UserSession): Promise<Explanation> {
    const record = await session.read();
    const at = now();
    const verdict = judge(record, policy, at);
    if (verdict.kind === "valid") {
      session.seen ??= { record: record as SessionRecord, at };
      return { authenticated: true, reason: null };
    }
    return {
      authenticated: false,
      reason: record === undefined ? (session.endedBy ?? verdict.reason) : verdict.reason,
    };
  }

  async function ownToken(
    session: UserSession,
    { minValidity, rejected }: WantedValidity,
    { record: first, at }: Pick<SignedIn, "record" | "at">,
  ): Promise<OwnToken> {
    const dueOf = (record: SessionRecord, now: EpochSeconds): Need | undefined => {
      if (judge(record, policy, now).kind === "ended" || !isRefreshable(record, policy))
        return undefined;
      const { credentials, idp_state: state } = record;
      if (credentials?.token === rejected && !isRecent(state.forced_at, now)) return "rejected";
      return staysValid(accessTokenLife(record), minValidity, now) ? undefined : "tokens";
    };
    let record: SessionRecord | undefined = first;
    let judgedAt = at;
    if (dueOf(first, at) !== undefined) {
      try {
        record = await refresher.refresh(session, (fresh) => dueOf(fresh, now()) ?? needOf(fresh));
      } catch (error) {
        // In an outage, a token that has not expired is still returned.
        if (!isOutage(error) || !isUnexpired(accessTokenLife(first), now())) throw error;
      }
      judgedAt = now();
    }
    if (record === undefined || afterRefresh(judge(record, policy, judgedAt)).kind === "ended")
      return { kind: "ended" };
    const remembering = withRejectedToken(record, rejected, policy);
    // No refresh was tried, or another call's was refused, which didn't know of the rejection.
    if (remembering !== record)
      await session.update((fresh) => withRejectedToken(fresh, rejected, policy));
    const { credentials } = record;
    return credentials === undefined ||
      isTokenRejected(remembering) ||
      !isUnexpired(accessTokenLife(record), at)
      ? { kind: "missing", record: remembering }
      : { kind: "token", token: boundToken(record, credentials) };
  }

  return {
    access,
    sawLast(session, record) {
      const at = now();
      if (judge(record, policy, at).kind !== "ended") session.seen ??= { record, at };
    },
    explain,
    async accessToken(session, minValidity, rejected) {
      const outcome = await access(session);
      if (!outcome.authenticated) return null;
      const own = await ownToken(session, { minValidity, rejected }, outcome);
      return own.kind === "token" ? own.token.value : null;
    },
    ownToken,
  };
}

function boundToken(
  { idp_state: state }: SessionRecord,
  { token, token_type: type }: Credentials,
): AccessToken {
  return { value: token, dpopKey: type === "DPoP" ? state.dpop?.key : undefined };
}

/**
 * After a refresh, the session is valid even if the new ID token expired during the refresh (step 4
 * of the policy).
 */
function afterRefresh(verdict: Verdict): Verdict {
  if (verdict.kind !== "refresh") return verdict;
  // Another process runs another version of the claims schema. Nobody passes whom our own schema
  // has not accepted.
  if (verdict.reason === "review_due") throw new ProviderUnavailableError("refresh_pending");
  return { kind: "valid" };
}
