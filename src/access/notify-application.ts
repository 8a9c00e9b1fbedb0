import type { EndReason } from "../record/end-reason.js";
import type { Subject } from "../record/identity.js";
import { withoutUndefined } from "../record/without-undefined.js";
import type { AccessContext } from "./access-context.js";

/**
 * Announces that a user's session was ended without its cookie: emits `logout` and runs
 * `onSignOut`. No response waits for it.
 */
export function notifyOfLogout(
  { iss, sub, provider }: Subject,
  { application, events, tasks, owners }: AccessContext,
): void {
  const identity = owners.identityOf(iss, sub, provider);
  events.emit("logout", { ...identity, revoked: null });
  tasks.add(application.signedOut("logout", undefined, subjectOf(iss, sub, identity)));
}

/** The end of a session without its cookie. */
export interface UnseenEnd {
  readonly reason: EndReason;
  readonly iss: string;
  /** Undefined: the user is unknown, because only the browser's cookie decrypts the record. */
  readonly sub: string | undefined;
  /** The key of the provider, if the issuer doesn't tell it. */
  readonly provider?: string | undefined;
}

/** Announces that a session has ended without its cookie: emits `ended` and runs `onSignOut`. */
export function notifyOfEnd(
  { reason, iss, sub, provider }: UnseenEnd,
  { application, events, tasks, owners }: AccessContext,
): void {
  const identity = owners.identityOf(iss, sub, provider);
  events.emit("ended", { ...identity, reason });
  if (sub !== undefined)
    tasks.add(application.signedOut(reason, undefined, subjectOf(iss, sub, identity)));
}

function subjectOf(
  iss: string,
  sub: string,
  { provider }: { readonly provider?: string },
): Subject {
  return { iss, sub, ...withoutUndefined({ provider }) };
}
