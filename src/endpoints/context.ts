import type { Background } from "../core/background.js";
import type { EventHub } from "../core/event-hub.js";
import type { IdpRequest } from "../core/http.js";
import type { Finding } from "../core/errors.js";
import type { Log, Provider, VisitorSession } from "../core/ports.js";
import type { KeyNames } from "../core/record.js";
import type { Origin } from "../core/redirects.js";
import type { Settings } from "../core/settings.js";
import type { Clock } from "../core/time.js";
import type { SessionAccess } from "../credentials/credentials.js";
import type { LateTokenRule } from "../credentials/late-tokens.js";

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
  /** Where best effort goes that no visitor waits for. */
  readonly background: Background;
  /** What the startup checks found; the debug endpoint shows it. */
  readonly findings: readonly Finding[];
}

/** One request on its way through an endpoint. */
export interface Visit {
  readonly request: IdpRequest;
  /** The session that the request's cookie leads to, if any. */
  readonly session: VisitorSession;
  /** Our own origin as the visitor sees it; undefined when neither BASE_URL nor a usable Host header tells. */
  readonly origin: Origin | undefined;
  /** Host and port as the visitor used them, whatever BASE_URL says. */
  readonly host: string | undefined;
}
