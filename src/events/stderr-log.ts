import type { Clock } from "../clock.js";
import { rateLimited } from "./log-rate-limit.js";
import type { Log } from "./log.js";

/** The default log: warnings and errors as single lines on stderr, rate-limited. */
export function stderrLog(clock: Clock): Log {
  const write = rateLimited(
    ({ level, code, message }) => process.stderr.write(`idpauth ${level} ${code}: ${message}\n`),
    clock,
  );
  return (entry) => entry.level !== "info" && write(entry);
}
