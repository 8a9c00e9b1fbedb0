import type { Clock } from "../clock.js";
import { callWithoutWaiting } from "./call-without-waiting.js";
import { rateLimited } from "./log-rate-limit.js";
import type { Log } from "./log.js";

/** The options of a component that decide what becomes of its log lines. */
export interface LogOptions {
  /** Default: {@link stderr}. False: no log. */
  readonly log?: Log | false;
  /** Whether each line is written, also those of one kind without end. Default false. */
  readonly logEveryLine?: boolean;
}

/** Returns what writes the lines of a component, at most ten a minute of each kind. */
export function componentLog({ log, logEveryLine = false }: LogOptions, clock: Clock): Log {
  if (log === false) return () => undefined;
  if (log === undefined) return aboveInfo(logEveryLine ? stderr : rateLimited(stderr, clock));
  if (logEveryLine) return log;
  // The limit also writes when a minute is over. What the function then throws would end the process.
  return rateLimited((entry) => {
    callWithoutWaiting(() => log(entry));
  }, clock);
}

const stderr: Log = ({ level, code, message }) =>
  process.stderr.write(`idpauth ${level} ${code}: ${message}\n`);

/** The default log leaves `info` out. */
const aboveInfo =
  (write: Log): Log =>
  (entry) =>
    entry.level !== "info" && write(entry);
