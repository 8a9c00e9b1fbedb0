import { identityOf } from "../events/event-hub.js";
import type { Registration } from "../ports/registration.js";
import type { EndReason } from "../record/session-policy.js";
import { withoutUndefined } from "../record/without-undefined.js";
import type { Shared } from "./shared.js";

interface Announcers extends Shared {
  readonly registrations: readonly Registration[];
}

/**
 * Issuer, subject and provider of an event. Two providers can share an issuer; then the event names
 * neither.
 */
function about(iss: string, sub: string | undefined, registrations: readonly Registration[]) {
  const [first, ...others] = registrations.filter(({ issuer }) => issuer === iss);
  return identityOf(withoutUndefined({ iss, sub }), others.length === 0 ? first?.key : undefined);
}

/**
 * Announces that a user's session was ended without its cookie: emits `logout` and runs
 * `onSignOut`. No response waits for it.
 */
export function notifyOfLogout(
  { iss, sub }: { readonly iss: string; readonly sub: string },
  { application, events, tasks, registrations }: Announcers,
): void {
  events.emit("logout", { ...about(iss, sub, registrations), revoked: null });
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
  { application, events, tasks, registrations }: Announcers,
  provider?: string,
): void {
  events.emit("ended", {
    ...about(iss, sub, registrations),
    ...withoutUndefined({ provider }),
    reason,
  });
  if (sub !== undefined) tasks.add(application.signedOut(reason, undefined, { iss, sub }));
}
