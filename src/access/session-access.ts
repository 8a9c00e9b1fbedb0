import { epochSeconds } from "../clock.js";
import { isOutage, ProviderUnavailableError } from "../errors.js";
import type { Registration } from "../ports/registration.js";
import type { UserSession } from "../ports/user-session.js";
import type { Credentials } from "../record/credentials.js";
import type { SessionRecord } from "../record/record.js";
import {
  judge,
  type EndReason,
  type PolicySettings,
  type Verdict,
} from "../record/session-policy.js";
import {
  accessTokenLife,
  isRecent,
  isRefreshable,
  isUnexpired,
  staysValid,
} from "../record/token-validity.js";
import { createEndedEvent } from "./ended-event.js";
import { createOptionalWrites } from "./optional-writes.js";
import type { Owners, SessionOwner } from "./session-owner.js";
import { needAfter, type Refresher } from "./shared-refresh.js";
import type { Shared } from "./shared.js";

/** The result of an access: a record of a signed-in user, or the reason why there is none. */
export type Access<Own extends Registration = Registration> = SignedIn<Own> | SignedOut<Own>;

/** A session whose user is signed in, or was until it ended. */
export interface OwnedSession<Own extends Registration = Registration> {
  readonly record: AuthenticatedRecord;
  readonly owner: SessionOwner<Own>;
}

export interface SignedIn<Own extends Registration = Registration> extends OwnedSession<Own> {
  readonly authenticated: true;
}

export interface SignedOut<Own extends Registration = Registration> {
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
   * `rejected`. Null: the user is signed out, or the token has expired and cannot be refreshed.
   *
   * @param rejected a token that an API has rejected
   */
  accessToken(session: UserSession, minValidity: number, rejected?: string): Promise<string | null>;
}

export interface SessionAccessOptions<Own extends Registration = Registration> extends Shared {
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

  async function access(
    session: UserSession,
    { slide = true, sendsCookie = false }: AccessOptions = NO_OPTIONS,
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
    let verdict = judge(record, policy, now());
    if (verdict.kind === "refresh") {
      record = await refresher.refresh(session, needOf);
      verdict = afterRefresh(judge(record, policy, now()));
    }
    if (verdict.kind === "ended") {
      const { reason } = verdict;
      if (record?.credentials !== undefined && record.idp_state.ended !== reason)
        await writeIfPossible(session, () => endedEvent.report(session, record, reason));
      return {
        authenticated: false,
        reason: record === undefined ? (session.endedBy ?? verdict.reason) : verdict.reason,
        record,
        owner: owners.of(record),
      };
    }
    session.seen ??= { record: record as SessionRecord, at: now() };
    const stamp = slide && policy.sessionIdleTimeout !== null ? now() : null;
    const written = writeIfPossible(session, () => session.touch(stamp, sendsCookie));
    if (written !== undefined) await written;
    return {
      authenticated: true,
      record: record as AuthenticatedRecord,
      owner: owners.of(record),
    };
  }

  return {
    access,
    sawLast(session, record) {
      if (judge(record, policy, now()).kind !== "ended") session.seen ??= { record, at: now() };
    },
    async explain(session) {
      const record = await session.read();
      const verdict = judge(record, policy, now());
      if (verdict.kind === "valid") {
        session.seen ??= { record: record as SessionRecord, at: now() };
        return { authenticated: true, reason: null };
      }
      return {
        authenticated: false,
        reason: record === undefined ? (session.endedBy ?? verdict.reason) : verdict.reason,
      };
    },
    async accessToken(session, minValidity, rejected) {
      const first = await access(session);
      if (!first.authenticated) return null;
      const hasToken = (record: SessionRecord) => isUnexpired(accessTokenLife(record), now());
      const isRejected = (record: SessionRecord) =>
        rejected !== undefined &&
        record.credentials?.token === rejected &&
        !isRecent(record.idp_state.forced_at, now());
      const isDue = (record: SessionRecord) =>
        judge(record, policy, now()).kind !== "ended" &&
        isRefreshable(record, policy) &&
        (isRejected(record) || !staysValid(accessTokenLife(record), minValidity, now()));
      let record: SessionRecord | undefined = first.record;
      if (isDue(record)) {
        try {
          record = await refresher.refresh(session, (fresh) =>
            isDue(fresh) ? (isRejected(fresh) ? "rejected" : "tokens") : needOf(fresh),
          );
        } catch (error) {
          // In an outage, a token that has not expired is still returned.
          if (!isOutage(error) || !hasToken(first.record)) throw error;
        }
      }
      if (record === undefined || afterRefresh(judge(record, policy, now())).kind === "ended")
        return null;
      return hasToken(record) ? (record.credentials?.token ?? null) : null;
    },
  };
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
