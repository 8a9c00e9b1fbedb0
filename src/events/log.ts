interface Details {
  provider: string;
  api: string;
  endpoint: string;
  reason: string;
  cause: string;
  status: number;
  error: string;
  function: string;
  kind: string;
  place: string;
  page: string;
  language: string;
  paths: string;
  count: number;
  suppressed: number;
  providers: string;
  store: string;
  sessionMaxAge: number | "none";
  sessionIdleTimeout: number | "none";
  sessionTtl: number;
  path: string;
  debug: boolean;
}

/** The details of a log line. docs/reference/events.md says which line has which. */
export type LogDetails = Readonly<Partial<Details>>;

/** One log line. It never contains a token, secret, state, nonce or verifier. */
export interface LogEntry {
  /** In rising order of severity. The default log leaves `info` out. */
  readonly level: "info" | "warn" | "error";
  /** Stable. Where an error, a check or an end reason applies, this is its code. */
  readonly code: string;
  /** English text. Its wording can change; use `code` for alerts. */
  readonly message: string;
  /** Details that are safe to write down: status codes, durations, error codes of the provider. */
  readonly details?: LogDetails;
}

/** Writes one log line. It may be async; the caller does not wait for it and ignores its errors. */
export type Log = (entry: LogEntry) => unknown;
