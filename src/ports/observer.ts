/** What can watch the operations of a component, such as OpenTelemetry. */

/** An operation that has a beginning and an end. */
export type Operation = { readonly provider?: string | undefined } & (
  | { readonly name: "guard" }
  /** `api`: the API that the new token is for. Undefined: the session's own tokens. */
  | { readonly name: "refresh"; readonly api: string | undefined }
  /** A request to the provider; `endpoint` as in the event `outage`. */
  | { readonly name: "provider"; readonly endpoint: string }
  /** `method`: one of `SessionStore`. */
  | { readonly name: "store"; readonly method: string }
  /** A request to an API, until the head of its response. */
  | { readonly name: "api"; readonly api: string; readonly method: string; readonly url: URL }
);

/** What an operation tells of itself. */
export interface Facts {
  /** A stable word. */
  readonly outcome?: string;
  /** The status of an API's response. */
  readonly status?: number;
  /** The user, as events have it. */
  readonly identity?: { readonly issuer?: string; readonly subject?: string };
}

/** An operation that is being watched. */
export interface Observation {
  note(facts: Facts): void;
  /** The headers by which an API joins the trace, with names in lower case. */
  readonly traceHeaders: Readonly<Record<string, string>>;
}

/** The work of an operation. Its argument is undefined if nothing watches. */
export type Work<Result> = (observation?: Observation) => Promise<Result>;

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
