import { ERRORS, IdpAuthError } from "../errors.js";
import type { SessionEnd } from "../record/session-policy.js";

/** The reason of the signal of `whenEnded`: the session of the request has ended. */
export class SessionEndedError extends IdpAuthError {
  static override readonly className = "SessionEndedError";
  /** `logout`, `replaced` by a new sign-in, or a reason code such as `idle`. */
  readonly reason: SessionEnd;

  constructor(reason: SessionEnd) {
    super("session_ended", `${ERRORS.session_ended.title} (${reason}).`);
    this.reason = reason;
  }
}
