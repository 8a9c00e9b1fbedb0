/** What can watch the operations of a component, such as OpenTelemetry. */

/** An operation that has a beginning and an end. */
export interface Operation {
  /**
   * `provider`: a request to the provider. `store`: a call to the session store. `api`: a request
   * to an API, until the head of its response.
   */
  readonly name: "guard" | "refresh" | "provider" | "store" | "api";
  /** The provider's name in the settings, if there are several. */
  readonly provider?: string | undefined;
  /** Of the provider, as in the event `outage`. */
  readonly endpoint?: string;
  /** The API of a request, or the one that a refresh gets a token for. */
  readonly api?: string | undefined;
  /** Of the store, or of the HTTP request. */
  readonly method?: string;
  /** The address of the API. */
  readonly url?: URL;
}

/** What an operation tells of itself. */
export interface Facts {
  /** A stable word. */
  readonly outcome?: string;
  /** The status of an API's response. */
  readonly status?: number;
  /** The user, as events have it. */
  readonly identity?: Identity;
}

/** A user, as events have it. */
export interface Identity {
  /** The provider's issuer. */
  readonly issuer?: string;
  /** The user's `sub`. */
  readonly subject?: string;
  /** The key of the user's provider, if it has one. */
  readonly provider?: string;
}

/** An operation that is being watched. */
export interface Observation {
  /** Takes what the operation tells of itself. */
  note(facts: Facts): void;
  /** The headers by which an API joins the trace, with names in lower case. */
  readonly traceHeaders: Readonly<Record<string, string>>;
}

/** The work of an operation. Its argument is undefined if nothing watches. */
export type Work<Result> = (observation?: Observation) => Promise<Result>;

/** Watches operations. */
export interface Observer {
  /** Calls `work` once, and returns or throws what it does. */
  observe<Result>(operation: Operation, work: Work<Result>): Promise<Result>;
}

/** Where operations run, watched or not. */
export interface Operations {
  /** Undefined: nothing watches. */
  readonly observer: Observer | undefined;
  run<Result>(operation: Operation, work: Work<Result>): Promise<Result>;
}
