import { epochSeconds, type Clock } from "../clock.js";
import { ERRORS, IdpAuthError } from "../errors.js";
import type { UserSession } from "../ports/user-session.js";
import { judge, type PolicySettings, type SessionEnd } from "../record/session-policy.js";
import type { Shutdown } from "../work/shutdown.js";

/** The reason of the signal of `whenEnded`: the session of the request has ended, or the process. */
export class SessionEndedError extends IdpAuthError {
  static override readonly className = "SessionEndedError";
  /**
   * `logout`, `replaced` by a new sign-in, or a reason code such as `idle`. `closing`: `auth.close()`
   * was called, and the session continues.
   */
  readonly reason: SessionEnd | "closing";

  constructor(reason: SessionEnd | "closing") {
    const code = reason === "closing" ? "shutting_down" : "session_ended";
    super(code, `${ERRORS[code].title} (${reason}).`);
    this.reason = reason;
  }
}

/** Milliseconds between two attempts to read a session whose store does not respond. */
const RETRY_MS = 2_000;

export interface EndSignalOptions {
  readonly policy: PolicySettings;
  readonly clock: Clock;
  /** Gets a function to call when the request closes; the signal is released then. */
  readonly onClose: (closed: () => void) => void;
  /** Aborts the signal, too. Absent: the caller ends with it by itself. */
  readonly shutdown?: Shutdown;
}

/**
 * Returns a signal that aborts when the session ends. Without a session it aborts as soon as the
 * store has responded.
 *
 * @param open opens the session of the request anew; what it throws, this throws
 */
export function whenEnded(
  open: () => UserSession,
  { policy, clock, onClose, shutdown }: EndSignalOptions,
): AbortSignal {
  const controller = new AbortController();
  let release: (() => void) | undefined;
  let isClosed = false;
  const end = (reason: SessionEnd | "closing") => {
    if (!isClosed) controller.abort(new SessionEndedError(reason));
    isClosed = true;
    stay?.();
  };
  const begin = async (opened: UserSession | undefined) => {
    const session = opened ?? open();
    const record = await session.read();
    if (isClosed) return;
    const verdict = judge(record, policy, epochSeconds(clock));
    if (verdict.kind !== "ended") release = session.watchEnd(end);
    else end(record === undefined ? (session.endedBy ?? verdict.reason) : verdict.reason);
  };
  const attempt = (opened?: UserSession) => {
    begin(opened).catch(() => {
      // An outage ends no session.
      if (!isClosed) release = clock.timer(RETRY_MS, () => attempt());
    });
  };
  attempt(open());
  const stay = shutdown?.onClosing(() => {
    end("closing");
    release?.();
  });
  onClose(() => {
    isClosed = true;
    release?.();
    stay?.();
  });
  return controller.signal;
}
