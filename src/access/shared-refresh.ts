import { ProviderUnavailableError } from "../errors.js";
import type { Registration } from "../ports/registration.js";
import type { UserSession } from "../ports/user-session.js";
import type { SessionRecord } from "../record/record.js";
import type { Verdict } from "../record/session-policy.js";
import { inTime } from "../work/deadline.js";
import { createSlots, type Slots } from "../work/slots.js";
import type { AccessContext } from "./access-context.js";
import type { LeaseOptions, Need } from "./lease.js";
import { refreshOnce, type ApiRenewal } from "./refresh-attempt.js";
import { patienceMs } from "./refresh-limits.js";

/** Which refresh a verdict of the policy needs. */
export function needAfter(verdict: Verdict): Need | undefined {
  if (verdict.kind !== "refresh") return undefined;
  return verdict.reason === "review_due" ? "review" : "tokens";
}

export interface RefresherOptions extends AccessContext {
  /** `IDP_HTTP_TIMEOUT`, in seconds. */
  readonly httpTimeout: number;
  /** How many refreshes may be at each provider at a time. */
  readonly concurrency: number;
}

/** What one request wants of a refresh. */
interface WantedRefresh {
  readonly session: UserSession;
  readonly key: string;
  readonly needOf: LeaseOptions["needOf"];
  readonly api: ApiRenewal | undefined;
}

/** The refresh of a session, and what it is for. */
interface Running {
  /** The name of an API; undefined: the session's own tokens. */
  readonly api: string | undefined;
  readonly result: Promise<SessionRecord | undefined>;
}

export interface Refresher {
  /**
   * Refreshes the session once for all requests that call this at the same time. Returns the newest
   * record, also when another process refreshed it or the provider refused. Undefined: the session
   * is gone.
   *
   * A session has one refresh at a time, because each spends the refresh token that the one before
   * it brought. A request for one API never gets the result of another's: it waits, and looks again
   * at what it needs.
   *
   * @param needOf what a record still needs; called with the newest record, so that a late request
   *   never spends a token again
   * @throws ProviderUnavailableError an outage, too many refreshes at once, or `httpTimeout` has
   *   passed; the session stays
   * @throws StoreUnavailableError
   */
  refresh(
    session: UserSession,
    needOf: LeaseOptions["needOf"],
    api?: ApiRenewal,
  ): Promise<SessionRecord | undefined>;
  /**
   * Resolves once no refresh and no unawaited task is running. Never rejects.
   */
  idle(): Promise<void>;
}

export function createRefresher(options: RefresherOptions): Refresher {
  const { clock, tasks } = options;
  const patience = {
    clock,
    milliseconds: patienceMs(options.httpTimeout),
    late: () => new ProviderUnavailableError("refresh_pending"),
  };
  // By session, never by client or user: a session must not get another session's tokens.
  const running = new Map<string, Running>();
  // By provider: while one hangs, the sessions of the others are refreshed.
  const slotsOf = new WeakMap<Registration, Slots>();

  function slotsAt(registration: Registration): Slots {
    const known = slotsOf.get(registration);
    const { concurrency: limit } = options;
    const slots = known ?? createSlots({ limit, reason: "refresh_queue_full", clock });
    slotsOf.set(registration, slots);
    return slots;
  }

  async function refreshAtProvider(wanted: WantedRefresh): Promise<SessionRecord | undefined> {
    const record = await wanted.session.read().catch((error: unknown) => {
      options.events.failed("refresh", error);
      throw error;
    });
    const { owners } = options;
    const registration = owners.of(record).registration ?? (await owners.registrationOf(record));
    if (registration === undefined) {
      // A session without its provider has no record here, unless a source had it a moment ago. Then
      // the session must not pass without its refresh.
      if (record?.idp_state.provider === undefined) return record;
      throw new ProviderUnavailableError("refresh_pending");
    }
    const refresh = { ...options, ...wanted, registration, slots: slotsAt(registration) };
    const { key: provider } = registration;
    try {
      return await options.events.run(
        { name: "refresh", api: wanted.api?.name, provider },
        (observation) => refreshOnce({ ...refresh, observation }),
      );
    } catch (error) {
      throw provider === undefined ? error : withProvider(error, provider);
    }
  }

  async function inTurn(wanted: WantedRefresh): Promise<SessionRecord | undefined> {
    const { session, key, needOf, api } = wanted;
    for (let current = running.get(key); current !== undefined; current = running.get(key)) {
      const isJoined = current.api === api?.name;
      // A failure of another's refresh is reported to those who asked for it.
      await (isJoined ? current.result : current.result.catch(() => undefined));
      // The refresh updated the other request's session object; this request's own copy has to
      // follow.
      const record = await session.reload();
      if (isJoined || record === undefined || needOf(record) === undefined) return record;
    }
    const result = refreshAtProvider(wanted).finally(() => running.delete(key));
    running.set(key, { api: api?.name, result });
    return result;
  }

  return {
    async refresh(session, needOf, api) {
      const { key } = session;
      if (key === undefined) return undefined;
      const refresh = inTurn({ session, key, needOf, api });
      // Every request may have left when it fails. The failure has been reported already.
      refresh.catch(() => undefined);
      // It goes on without the request.
      return inTime(refresh, patience);
    },
    async idle() {
      while (running.size + tasks.size > 0)
        await Promise.allSettled([
          ...[...running.values()].map(({ result }) => result),
          tasks.settled(),
        ]);
    },
  };
}

/** The error with the session's provider, so that the login that it offers is at that provider. */
function withProvider(error: unknown, provider: string): unknown {
  if (!(error instanceof ProviderUnavailableError) || !error.loginHelps) return error;
  const { reason, cause, retryAfter, isMisconfiguration: misconfigured } = error;
  const options = { cause, retryAfter, misconfigured, loginHelps: true, provider };
  return new ProviderUnavailableError(reason, options);
}
