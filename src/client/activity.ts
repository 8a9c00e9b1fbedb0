import type { Environment } from "./environment.js";
import type { Session } from "./session.js";

/** Milliseconds between two reports of activity. */
const PAUSE_MS = 60_000;

/** Moves the idle timeout while the user presses a pointer or a key in this visible page. */
export function trackActivity(session: Session<object>, env: Environment): void {
  let reportedAt = 0;
  const report = () => {
    const now = env.Date.now();
    // The clock may have been set back since.
    const isDue = Math.abs(now - reportedAt) >= PAUSE_MS;
    if (isDue && session.isVisible() && session.getState().status === "signed-in") {
      reportedAt = now;
      void session.probe({ slide: true });
    }
  };
  session.listen("pointerdown", report, true);
  session.listen("keydown", report, true);
}
