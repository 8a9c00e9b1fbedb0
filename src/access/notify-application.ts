import type { EndReason } from "../record/session-policy.js";
import { withoutUndefined } from "../record/without-undefined.js";
import type { Shared } from "./shared.js";

/**
 * Announces that a user's session was ended without its cookie: emits `logout` and runs
 * `onSignOut`. No response waits for it.
 */
export function notifyOfLogout(
  { iss, sub }: { readonly iss: string; readonly sub: string },
  { application, events, tasks, owners }: Shared,
): void {
  events.emit("logout", { ...owners.identityOf(iss, sub), revoked: null });
  tasks.add(application.signedOut("logout", undefined, { iss, sub }));
}

/**
 * Announces that a session has ended without its cookie: emits `ended` and runs `onSignOut`.
 *
 * @param sub undefined: the user is unknown, because only the browser's cookie decrypts the record
 */
export function notifyOfEnd(
  reason: EndReason,
  iss: string,
  sub: string | undefined,
  { application, events, tasks, owners }: Shared,
  provider?: string,
): void {
  events.emit("ended", {
    ...owners.identityOf(iss, sub),
    ...withoutUndefined({ provider }),
    reason,
  });
  if (sub !== undefined) tasks.add(application.signedOut(reason, undefined, { iss, sub }));
}
