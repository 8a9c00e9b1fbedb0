/** Whether a user may sign in by this login, before the application decides. */
import { meetsStepUp } from "../record/authentication-strength.js";
import type { SignIn } from "../record/credentials.js";
import { isSameUser } from "../record/identity.js";
import { mayFinish } from "../record/pending-logins.js";
import { userIn, type SessionRecord } from "../record/record.js";
import { judge } from "../record/session-policy.js";
import {
  ending,
  failurePage,
  refusal,
  retry,
  type Attempt,
  type Ending,
} from "./callback-endings.js";
import { wasSignedOutByOtherSite } from "./other-site-logout.js";
import { askUser } from "./other-user-question.js";

/**
 * Checks the user of a sign-in.
 *
 * @param left the record that the login was removed from
 * @returns the ending if this user must not sign in by this login, or only after a question
 */
export function checkUser(
  attempt: Attempt,
  left: SessionRecord,
  signIn: SignIn,
): Ending | undefined {
  const { opened, context, login, startedAt } = attempt;
  const { settings } = context;
  const isSignedIn = judge(left, settings, startedAt).kind !== "ended";
  const isSame = isSameUser(userIn(left), signIn);
  const mustAsk = isSignedIn ? !isSame : wasSignedOutByOtherSite(opened, settings);
  if (login.cross_site === true && mustAsk) {
    const present = isSignedIn ? (left.id_info ?? {}) : undefined;
    // Dropped: a revocation can end the other user's sessions in other browsers, too.
    return ending("dropped", () => askUser(attempt, present, signIn.idInfo));
  }
  if (!mayFinish(left, login, signIn)) {
    return refusal(attempt, {
      tokens: "revoked",
      reason: "another_user",
      reply: () => failurePage(attempt, { code: "sign_in_refused" }),
    });
  }
  if (login.step_up === undefined) return undefined;
  const isMet = meetsStepUp(signIn.idInfo, login.step_up, {
    now: startedAt,
    tolerance: settings.clockTolerance,
  });
  if (isMet && (isSame || !isSignedIn)) return undefined;
  // Dropped for the signed-in user, because the existing session uses the same grant.
  const tokens = isSignedIn && isSame ? "dropped" : "revoked";
  return refusal(attempt, {
    tokens,
    reason: "step_up_failed",
    reply: () => failurePage(attempt, { code: "step_up_failed", action: retry(attempt) }),
  });
}
