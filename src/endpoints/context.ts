import type { Background } from "../access/background-work.js";
import type { EventHub } from "../events/event-hub.js";
import type { IdpRequest } from "../http/request-reply.js";
import type { Finding } from "../errors.js";
import type { Log } from "../ports/log.js";
import type { Provider } from "../ports/provider.js";
import type { UserSession } from "../ports/user-session.js";
import type { KeyNames } from "../record/stored-form.js";
import type { Origin } from "../http/redirects.js";
import type { Settings } from "../config/read-settings.js";
import type { Slots } from "../access/slots.js";
import type { Clock } from "../clock.js";
import type { SessionAccess } from "../access/session-access.js";
import type { LateTokenRule } from "../access/late-tokens.js";

/** What all requests share. */
export interface EndpointContext {
  readonly settings: Settings;
  readonly names: KeyNames;
  readonly provider: Provider;
  readonly sessions: SessionAccess;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventHub;
  readonly lateTokens: LateTokenRule;
  /** Bounds how many codes are exchanged at once: anyone can send one. */
  readonly exchangeSlots: Slots;
  /** Where best effort goes that no visitor waits for. */
  readonly background: Background;
  /** What the startup checks found; the debug endpoint shows it. */
  readonly findings: readonly Finding[];
}

/** One request on its way through an endpoint. */
export interface Visit {
  readonly request: IdpRequest;
  /** The session that the request's cookie leads to, if any. */
  readonly session: UserSession;
  /** Our own origin as the visitor sees it; undefined when neither BASE_URL nor a usable Host header tells. */
  readonly origin: Origin | undefined;
  /** Host and port as the visitor used them, whatever BASE_URL says. */
  readonly host: string | undefined;
}
