import { nextTurn } from "../clock.js";
import type { Application } from "../application/application.js";
import type { EventHub } from "../events/event-hub.js";
import type { UnawaitedTasks } from "./unawaited-tasks.js";

/** Ends that are announced before other work runs: some milliseconds with listeners and a hook. */
const PER_TURN = 100;

/** Announces the end of several sessions, and lets other work run in between. The first ones are announced at once. */
export async function announceEach(count: number, announce: () => void): Promise<void> {
  for (let done = 1; done <= count; done += 1) {
    announce();
    if (done % PER_TURN === 0) await nextTurn();
  }
}

/** Emits the logout events of sessions that ended without their cookies, and runs `onSignOut` for each. No response waits for it. */
export function announceLogouts(
  count: number,
  { iss, sub }: { readonly iss: string; readonly sub: string },
  { application, events, tasks }: { readonly application: Application; readonly events: EventHub; readonly tasks: UnawaitedTasks },
): void {
  const announced = announceEach(count, () => {
    events.emit("logout", { issuer: iss, subject: sub, revoked: null });
    tasks.add(application.signedOut("logout", undefined, { iss, sub }));
  });
  tasks.add(announced);
}
