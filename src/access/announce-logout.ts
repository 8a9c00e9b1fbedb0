import type { Application } from "../application/application.js";
import type { EventHub } from "../events/event-hub.js";
import type { UnawaitedTasks } from "./unawaited-tasks.js";

/** Emits the logout events of sessions that ended without their cookies, and runs `onSignOut` for each. */
export function announceLogouts(
  count: number,
  { iss, sub }: { readonly iss: string; readonly sub: string },
  { application, events, tasks }: { readonly application: Application; readonly events: EventHub; readonly tasks: UnawaitedTasks },
): void {
  for (let done = 0; done < count; done += 1) {
    events.emit("logout", { issuer: iss, subject: sub, revoked: null });
    tasks.add(application.signedOut("logout", undefined, { iss, sub }));
  }
}
