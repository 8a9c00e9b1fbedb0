import type { Application } from "../application/application.js";
import type { Clock } from "../clock.js";
import { ProviderUnavailableError } from "../errors.js";
import type { EventHub } from "../events/event-hub.js";
import type { Provider } from "../ports/provider.js";
import type { UserSession } from "../ports/user-session.js";
import type { SessionRecord } from "../record/record.js";
import type { OrphanedTokenRule } from "./orphaned-tokens.js";
import type { LeaseOptions } from "./lease.js";
import { refreshOnce } from "./refresh-attempt.js";
import { Slots } from "./slots.js";
import type { UnawaitedTasks } from "./unawaited-tasks.js";

export interface RefresherOptions {
  readonly provider: Provider;
  readonly application: Application;
  readonly clock: Clock;
  readonly events: EventHub;
  readonly orphanedTokens: OrphanedTokenRule;
  readonly tasks: UnawaitedTasks;
  /** Milliseconds that a request waits for a refresh. The refresh goes on without the request. */
  readonly userPatience: number;
  /** How many refreshes may be at the provider at a time. */
  readonly concurrency: number;
}

export interface Refresher {
  /**
   * Refreshes the session once for all requests that call this at the same time. Returns the newest record, also when another process
   * refreshed it or the provider refused. Undefined: the session is gone.
   *
   * @param needOf what a record still needs; called with the newest record, so that a late request never spends a token again
   * @throws ProviderUnavailableError an outage, too many refreshes at once, or `userPatience` is over; the session stays
   * @throws StoreUnavailableError
   */
  refresh(session: UserSession, needOf: LeaseOptions["needOf"]): Promise<SessionRecord | undefined>;
  /** Resolves once no refresh and no unawaited task is running. Keeps the process alive until then. Never rejects. */
  idle(): Promise<void>;
}

export function createRefresher(options: RefresherOptions): Refresher {
  const { clock, tasks, userPatience } = options;
  // By session, never by client or user: a session must not get another session's tokens.
  const running = new Map<string, Promise<SessionRecord | undefined>>();
  const slots = new Slots({ limit: options.concurrency, reason: "refresh_queue_full", clock });

  function withPatience(refresh: Promise<SessionRecord | undefined>): Promise<SessionRecord | undefined> {
    return new Promise((resolve, reject) => {
      const cancel = clock.timer(userPatience, () => {
        reject(new ProviderUnavailableError("refresh_pending"));
      });
      refresh.then(resolve, reject).finally(cancel);
    });
  }

  return {
    async refresh(session, needOf) {
      const { key } = session;
      if (key === undefined) return undefined;
      const joined = running.get(key);
      if (joined !== undefined) {
        await withPatience(joined);
        // The refresh updated the other request's session object; this request's own copy has to follow.
        return session.reload();
      }
      const refresh = refreshOnce({ ...options, slots }, session, key, needOf).finally(() => running.delete(key));
      running.set(key, refresh);
      // Every request may have left when it fails. The failure has been reported already.
      refresh.catch(() => undefined);
      return withPatience(refresh);
    },
    async idle() {
      // The clock's timers keep no process alive; this one does.
      const alive = setInterval(() => undefined, 60_000);
      while (running.size + tasks.size > 0) await Promise.allSettled([...running.values(), tasks.settled()]);
      clearInterval(alive);
    },
  };
}
