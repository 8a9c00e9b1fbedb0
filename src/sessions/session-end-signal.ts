import { epochSeconds, type Clock } from "../clock.js";
import { ERRORS, IdpAuthError } from "../errors.js";
import type { UserSession } from "../ports/user-session.js";
import type { SessionEnd } from "../record/end-reason.js";
import { judge, type PolicySettings } from "../record/session-policy.js";
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
  /** Opens the session once the host of its request is known. Absent: it is known. */
  readonly openLater?: () => Promise<UserSession>;
  /** Aborts the signal, too. Absent: the caller ends with it by itself. */
  readonly shutdown?: Shutdown;
}

/**
 * Returns a signal that aborts when the session ends. Without a session it aborts as soon as the
 * store has responded.
 *
 * @param open opens the session of the request anew; what it throws, this throws
 */
export function whenEnded(open: () => UserSession, options: EndSignalOptions): AbortSignal {
  const controller = new AbortController();
  const opened = open();
  const waiting = new WaitingForEnd(options, (error) => {
    controller.abort(error);
  });
  const { openLater } = options;
  if (openLater === undefined) waiting.attempt(open, opened);
  else waiting.attempt(openLater);
  options.onClose(() => {
    waiting.close();
  });
  return controller.signal;
}

/** Where an end is waited for without a signal, which would cost a kilobyte for each connection. */
export interface WaitOptions extends Pick<EndSignalOptions, "policy" | "clock" | "shutdown"> {
  /** Called once, unless the wait was closed before, and never before this function returns. */
  readonly onEnd: (error: SessionEndedError) => void;
}

/**
 * Calls a function when the session ends, as {@link whenEnded} aborts its signal.
 *
 * @returns what ends the wait
 */
export function waitForEnd(
  open: () => UserSession,
  { onEnd, ...options }: WaitOptions,
): { close(): void } {
  const opened = open();
  const waiting = new WaitingForEnd(options, onEnd);
  waiting.attempt(open, opened);
  return waiting;
}

/**
 * Waits for the end of one session. An object keeps less memory than functions that share their
 * variables, and nothing of the attempts: as long as the connection is open, it stays.
 */
class WaitingForEnd {
  readonly #onEnd: WaitOptions["onEnd"];
  readonly #policy: PolicySettings;
  readonly #clock: Clock;
  readonly #stay: (() => void) | undefined;
  #release: (() => void) | undefined;
  #isClosed = false;

  constructor(
    { policy, clock, shutdown }: Omit<WaitOptions, "onEnd">,
    onEnd: WaitOptions["onEnd"],
  ) {
    this.#onEnd = onEnd;
    this.#policy = policy;
    this.#clock = clock;
    this.#stay = shutdown?.onClosing(() => {
      this.#end("closing");
      this.#release?.();
    });
  }

  /** @param opened undefined: `open` opens it again, after an outage */
  attempt(open: () => UserSession | Promise<UserSession>, opened?: UserSession): void {
    this.#begin(open, opened).catch(() => {
      // An outage ends no session.
      if (this.#isClosed) return;
      this.#release = this.#clock.timer(RETRY_MS, () => {
        this.attempt(open);
      });
    });
  }

  /** The response is complete, or the browser has left. */
  close(): void {
    this.#isClosed = true;
    this.#release?.();
    this.#stay?.();
  }

  async #begin(
    open: () => UserSession | Promise<UserSession>,
    opened: UserSession | undefined,
  ): Promise<void> {
    const session = opened ?? (await open());
    const record = await session.read();
    if (this.#isClosed) return;
    const verdict = judge(record, this.#policy, epochSeconds(this.#clock));
    if (verdict.kind === "ended")
      this.#end(record === undefined ? (session.endedBy ?? verdict.reason) : verdict.reason);
    else
      this.#release = session.watchEnd((reason) => {
        this.#end(reason);
      });
  }

  #end(reason: SessionEnd | "closing"): void {
    const isFirst = !this.#isClosed;
    this.#isClosed = true;
    this.#stay?.();
    if (isFirst) this.#onEnd(new SessionEndedError(reason));
  }
}
