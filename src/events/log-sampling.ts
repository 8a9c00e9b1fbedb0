import type { Log, LogEntry } from "../ports/log.js";
import type { Clock } from "../clock.js";

/** Lines of one kind that pass within {@link WINDOW}; the others of that time are counted. */
export const LINES_PER_WINDOW = 10;

/** Milliseconds. */
export const WINDOW = 60_000;

/** Kinds that are told apart by their reason; a provider that invents reasons without end fills no memory. */
const MAX_KINDS = 200;

interface Window {
  readonly since: number;
  passed: number;
  suppressed: number;
  /** The first line that was left out; it speaks for the others of its kind. */
  leftOut: LogEntry | undefined;
}

/**
 * A log that no flood can fill: of each kind of line (code, endpoint, reason) the first ten of a minute pass. When the minute is
 * over, one line more says how many were left out, in `details.suppressed`. Our decision; nothing is lost that counts, since
 * events are never left out.
 */
export function sampled(log: Log, clock: Clock): Log {
  const windows = new Map<string, Window>();

  function close(kind: string, window: Window): void {
    if (windows.get(kind) === window) windows.delete(kind);
    const { leftOut, suppressed } = window;
    if (leftOut === undefined) return;
    window.leftOut = undefined;
    const message = `${leftOut.message} (${String(suppressed)} more such lines within a minute were left out.)`;
    log({ ...leftOut, message, details: { ...leftOut.details, suppressed } });
  }

  /** Kinds that are long over must not keep new ones from being told apart. */
  function sweep(now: number): void {
    // In the order in which they began.
    for (const [kind, window] of windows) {
      if (now - window.since < WINDOW) return;
      close(kind, window);
    }
  }

  return (entry) => {
    const now = clock.monotonic();
    const its = kindOf(entry);
    if (!windows.has(its) && windows.size >= MAX_KINDS) sweep(now);
    const kind = windows.has(its) || windows.size < MAX_KINDS ? its : entry.code;
    let window = windows.get(kind);
    if (window === undefined || now - window.since >= WINDOW) {
      // Its timer is about to run; the order of the lines should not depend on that.
      if (window !== undefined) close(kind, window);
      windows.set(kind, (window = { since: now, passed: 0, suppressed: 0, leftOut: undefined }));
    }
    if (window.passed < LINES_PER_WINDOW) {
      window.passed += 1;
      return log(entry);
    }
    window.suppressed += 1;
    if (window.leftOut === undefined) {
      window.leftOut = entry;
      const closing = window;
      clock.timer(window.since + WINDOW - now, () => {
        close(kind, closing);
      });
    }
    return undefined;
  };
}

function kindOf({ code, details }: LogEntry): string {
  return details === undefined ? code : `${code} ${String(details["endpoint"] ?? "")} ${String(details["reason"] ?? "")}`;
}
