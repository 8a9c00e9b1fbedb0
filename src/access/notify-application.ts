import type { EndReason } from "../record/session-policy.js";
import type { RefreshOptions } from "./refresh-attempt.js";

type Announcers = Pick<RefreshOptions, "application" | "events" | "tasks">;

/** Announces that a user's session was ended without its cookie: emits `logout` and runs `onSignOut`. No response waits for it. */
export function notifyOfLogout(
  { iss, sub }: { readonly iss: string; readonly sub: string },
  { application, events, tasks }: Announcers,
): void {
  events.emit("logout", { issuer: iss, subject: sub, revoked: null });
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
  { application, events, tasks }: Announcers,
  provider?: string,
): void {
  events.emit("ended", { ...(provider !== undefined && { provider }), issuer: iss, ...(sub !== undefined && { subject: sub }), reason });
  if (sub !== undefined) tasks.add(application.signedOut(reason, undefined, { iss, sub }));
}
