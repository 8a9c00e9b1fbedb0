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

/** One log line. It never contains a token, secret, state, nonce or verifier. */
export interface LogEntry {
  /** In rising order of severity. The default log leaves `info` out. */
  readonly level: "info" | "warn" | "error";
  /** Stable. Where an error, a check or an end reason applies, this is its code. */
  readonly code: string;
  /** English text. Its wording can change; use `code` for alerts. */
  readonly message: string;
  /** Safe to write down. docs/reference/events.md says which line has which details. */
  readonly details?: Readonly<Partial<Details>>;
}

/** The details of a log line. */
export type LogDetails = NonNullable<LogEntry["details"]>;

/** Writes one log line. It may be async; the caller does not wait for it and ignores its errors. */
export type Log = (entry: LogEntry) => unknown;
