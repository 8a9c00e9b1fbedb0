import type { Application } from "../application/application.js";
import type { UnawaitedTasks } from "../access/unawaited-tasks.js";
import type { EventHub } from "../events/event-hub.js";
import type { Finding } from "../errors.js";
import type { Provider } from "../ports/provider.js";
import type { KeyNames } from "../record/stored-form.js";
import type { Settings } from "../config/read-settings.js";
import type { Slots } from "../access/slots.js";
import type { Clock } from "../clock.js";
import type { SessionAccess } from "../access/session-access.js";
import type { OrphanedTokenRule } from "../access/orphaned-tokens.js";

/** The parts that all requests share. */
export interface EndpointContext {
  readonly settings: Settings;
  readonly names: KeyNames;
  readonly provider: Provider;
  readonly sessions: SessionAccess;
  readonly application: Application;
  readonly clock: Clock;
  readonly events: EventHub;
  readonly orphanedTokens: OrphanedTokenRule;
  /** Limits the concurrent code exchanges, since anyone can send a code. */
  readonly exchangeSlots: Slots;
  /** Tasks that no response waits for. */
  readonly tasks: UnawaitedTasks;
  /** The warnings of the startup checks; the debug endpoint shows them. */
  readonly findings: readonly Finding[];
}
