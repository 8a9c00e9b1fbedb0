import type { Application } from "../application/application.js";
import type { Clock } from "../clock.js";
import type { EventHub } from "../events/event-hub.js";
import type { UnawaitedTasks } from "../work/unawaited-tasks.js";
import type { OrphanedTokenRule } from "./orphaned-tokens.js";
import type { Owners } from "./session-owner.js";

/** What every access, refresh and endpoint of one application uses. */
export interface AccessContext {
  readonly clock: Clock;
  readonly events: EventHub;
  readonly owners: Owners;
  /** The work that no response waits for. */
  readonly tasks: UnawaitedTasks;
  /** The application's own code: its hooks and its claims schema. */
  readonly application: Application;
  readonly orphanedTokens: OrphanedTokenRule;
}
