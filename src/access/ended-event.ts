/** How `ended` is emitted once for each session, whichever request finds the end. */
import type { EpochSeconds } from "../clock.js";
import type { UserSession } from "../ports/user-session.js";
import type { EndReason } from "../record/end-reason.js";
import type { SessionRecord } from "../record/record.js";
import { judge, type PolicySettings } from "../record/session-policy.js";
import type { AccessContext } from "./access-context.js";

/** Sessions of removed providers that one process remembers. Our decision. */
const MAX_REMOVED_SESSIONS = 1_000;

export interface EndedEventOptions extends AccessContext {
  readonly policy: PolicySettings;
}

/** The end of a session as a request has found it. */
export interface SeenEnd {
  readonly reason: EndReason;
  readonly at: EpochSeconds;
}

export interface EndedEvent {
  /**
   * Emits `ended` once per session and reason, and runs `onSignOut` once per session: only the
   * request whose write succeeds does so. If it fails, the verdict stands without the event, and the
   * next access emits it.
   */
  report(session: UserSession, record: SessionRecord, end: SeenEnd): Promise<void>;
  /**
   * Emits `ended` for a session whose provider was removed, once per process. The record stays as
   * it is, because a process with newer settings may know the provider.
   */
  reportRemoved(key: string): void;
}

export function createEndedEvent(options: EndedEventOptions): EndedEvent {
  const { policy, owners, application, tasks, events } = options;
  /** The keys of sessions whose provider was removed, and that are reported. */
  const removed = new Set<string>();
  return {
    async report(session, record, { reason, at }) {
      let before = record;
      const { changed } = await session.update((fresh) => {
        before = fresh;
        const verdict = judge(fresh, policy, at);
        const isFirst =
          verdict.kind === "ended" && verdict.reason === reason && fresh.idp_state.ended !== reason;
        return isFirst ? { ...fresh, idp_state: { ...fresh.idp_state, ended: reason } } : fresh;
      });
      // Reported after the update: a framework's copy of the record may be older than the user's
      // last activity.
      if (!changed) return;
      session.reportEnd(reason);
      events.emit("ended", { ...owners.of(record).identity, reason });
      tasks.add(application.signedOut(reason, before));
    },
    reportRemoved(key) {
      if (removed.has(key)) return;
      if (removed.size >= MAX_REMOVED_SESSIONS) removed.clear();
      removed.add(key);
      events.emit("ended", { reason: "provider_removed" });
    },
  };
}
