/** What a component is created from. */
import type { SessionRequest } from "../access/session-request.js";
import type { Clock } from "../clock.js";
import type { Settings } from "../config/read-settings.js";
import type { SettingNames } from "../config/setting-names.js";
import type { EventHub, ProviderEvents } from "../events/event-hub.js";
import type { DeclaredRules } from "../guard/declared-rules.js";
import type { Provider, TokenTarget } from "../ports/provider.js";
import type { OwnEndpoints } from "../provider/endpoint-owners.js";
import type { Shutdown } from "../work/shutdown.js";
import type { UnawaitedTasks } from "../work/unawaited-tasks.js";
import type { FrameworkAdapter } from "./adapter-types.js";
import type { IdpAuthOptions } from "./idp-auth-options.js";

export interface ComponentParts<FrameworkRequest extends object> {
  readonly options: IdpAuthOptions;
  readonly adapter: FrameworkAdapter<FrameworkRequest>;
  readonly clock: Clock;
  readonly events: EventHub;
  readonly createProvider: (parts: ProviderParts) => Provider;
  /** Gets the session of each request for an endpoint. */
  readonly endpointOpened: (raw: FrameworkRequest, opened: SessionRequest) => void;
  readonly shutdown: Shutdown;
  /** What the application's routes require. They may be declared after the start. */
  readonly rules: DeclaredRules;
}

/** What a provider is created from. */
export interface ProviderParts {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly events: ProviderEvents;
  readonly names: SettingNames;
  readonly targets: readonly TokenTarget[];
  /** What `settled` of the component waits for. */
  readonly tasks: UnawaitedTasks;
  /** Loads what tells its endpoints from those of other providers. Undefined: there is one. */
  readonly endpoints: (() => Promise<OwnEndpoints | undefined>) | undefined;
  readonly fetch?: typeof globalThis.fetch;
  /**
   * Shows the client's certificate, by the rules of a provider from a source. Default: connections
   * of its own, if it has a certificate.
   */
  readonly certified?: typeof globalThis.fetch;
  readonly shutdown: Shutdown;
  /** Whether an address of the provider's document may be used. Default: any. */
  readonly allows?: (address: URL) => boolean;
}
