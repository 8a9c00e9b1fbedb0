/** How many lines of one kind a log gets in a minute. */
import type { Clock } from "../clock.js";
import type { Log, LogEntry } from "./log.js";

/** Lines of one kind that are written within {@link WINDOW_MS}; the others are counted. */
export const MAX_LINES = 10;

export const WINDOW_MS = 60_000;

/**
 * Kinds that are distinguished by their reason. A provider that invents reasons without end fills
 * no memory.
 */
const MAX_KINDS = 200;

/**
 * Limits the lines of each kind (code, provider, API, endpoint, reason) to ten a minute. After the
 * minute, one more line gives the number of suppressed lines in `details.suppressed`. Events and the
 * channel `idpauth:log` are not limited.
 */
export function rateLimited(log: Log, clock: Clock): Log {
  let since = -Infinity;
  /** The first suppressed line represents the others of its kind. */
  let kinds = new Map<string, { lines: number; suppressed: LogEntry | undefined }>();

  function endWindow(): void {
    const ended = kinds;
    kinds = new Map();
    for (const { lines, suppressed } of ended.values()) {
      if (suppressed === undefined) continue;
      const count = lines - MAX_LINES;
      const message = `${suppressed.message} (${String(count)} more lines of this kind within a minute were suppressed.)`;
      log({ ...suppressed, message, details: { ...suppressed.details, suppressed: count } });
    }
  }

  return (entry) => {
    const now = clock.monotonic();
    if (now - since >= WINDOW_MS) {
      endWindow();
      since = now;
    }
    const name = lineKindOf(entry);
    // One provider must not silence another.
    const key =
      kinds.has(name) || kinds.size < MAX_KINDS
        ? name
        : `${entry.code} ${entry.details?.provider ?? ""}`;
    const kind = kinds.get(key) ?? { lines: 0, suppressed: undefined };
    kinds.set(key, kind);
    kind.lines += 1;
    if (kind.lines <= MAX_LINES) return log(entry);
    if (kind.suppressed !== undefined) return undefined;
    kind.suppressed = entry;
    const current = kinds;
    clock.timer(since + WINDOW_MS - now, () => {
      if (kinds === current) endWindow();
    });
    return undefined;
  };
}

const KIND = ["provider", "api", "endpoint", "reason", "function"] as const;

function lineKindOf({ code, details }: LogEntry): string {
  return details === undefined
    ? code
    : [code, ...KIND.map((name) => details[name] ?? "")].join(" ");
}
