import type { ApplicationOptions } from "../application/hooks.js";
import type { Clock } from "../clock.js";
import type { ApiOptions } from "../config/api-options.js";
import type { IdpAuthNames } from "../config/inferred-names.js";
import type { SettingOptions } from "../config/read-settings.js";
import type { Log } from "../events/log.js";
import type { IdpRequest } from "../http/request.js";
import type { PagesOptions } from "../pages/page-options.js";
import type { SessionStore } from "../ports/session-store.js";

/**
 * The settings, each overriding its environment variable, the application's own functions, and the
 * connections to the outside world.
 *
 * @typeParam OwnClaims the output of the claims schema; inferred from `claims`
 * @typeParam Data the application's own data; inferred from the result of `onSignIn`
 * @typeParam Names the names of APIs and the keys of providers; inferred from `apis` and `providers`
 */
export interface IdpAuthOptions<
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
  Names extends IdpAuthNames = IdpAuthNames,
>
  extends SettingOptions<Names["provider"]>, ApplicationOptions<OwnClaims, Data> {
  /** The environment that gives the settings which are not options. Default `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /**
   * Where bundled sessions are stored. Default: this process's memory, with a warning outside debug
   * mode.
   */
  readonly store?: SessionStore;
  /**
   * `"bundled"` (default): idpauth's own sessions. `"host"`: those of the framework's session
   * middleware.
   */
  readonly session?: "bundled" | "host";
  /**
   * Returns the name of a session for the list of devices, when a user signs in. idpauth stores it
   * as one line of at most 200 characters. Default: with the sessions page, the browser and the
   * system, such as "Firefox on Linux"; without it, none. Bundled sessions only.
   */
  readonly sessionLabel?: (request: IdpRequest) => string | null | undefined;
  /**
   * The APIs that the application calls for its users, by name; docs/how-to/call-an-api.md explains
   * them. Every parameter that takes the name of an API takes only these names.
   */
  // With `Partial<Record<…>>`, the rules of an API would get their `data` before `onSignIn` has
  // given its type.
  // eslint-disable-next-line @typescript-eslint/consistent-indexed-object-style
  readonly apis?: {
    readonly [Name in Names["api"]]?: ApiOptions<NoInfer<OwnClaims>, NoInfer<Data>>;
  };
  /** The look and the language of the pages; docs/how-to/your-pages.md explains them. */
  readonly pages?: PagesOptions;
  /**
   * Gets the log lines, at most ten a minute of each kind (code, provider, API, endpoint, reason).
   * After the minute, one more line gives the number of suppressed lines in `details.suppressed`.
   * Default: warnings and errors as single lines on stderr. False: no log.
   */
  readonly log?: Log | false;
  /**
   * Whether the log gets every line, without that limit. An outage then writes lines with every
   * request. Default false.
   */
  readonly logEveryLine?: boolean;
  /** Default: the system's clock. */
  readonly clock?: Clock;
  /**
   * Sends the requests to the provider, for example through a proxy. Default: the runtime's
   * `fetch`.
   */
  readonly fetch?: typeof fetch;
}
