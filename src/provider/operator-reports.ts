/** Log lines for the operator: what is wrong with the configuration, at most once for each cause. */
import type { Clock } from "../clock.js";
import { textWith, type SettingNames, type SettingText } from "../config/setting-names.js";
import { ProviderUnavailableError } from "../errors.js";
import type { ProviderEvents } from "../events/event-hub.js";
import type { ProviderEndpoint } from "../events/events.js";
import type { LogDetails, LogEntry } from "../events/log.js";
import { withoutUndefined } from "../record/without-undefined.js";

/** Between two log lines of one doubt. */
const DOUBT_LINE_MS = 60_000;

/** A wrong configuration: an operator, or the provider, must change it. */
export interface Misconfiguration {
  readonly endpoint: ProviderEndpoint | "authorization";
  /** A stable word: `issuer_mismatch`, `invalid_client`, `id_token_encrypted`, … */
  readonly reason: string;
  /** The cause and the remedy, for the operator. Never contains a secret. */
  readonly message: SettingText;
  readonly status?: number | undefined;
}

export interface OperatorReports {
  /**
   * Returns the log line of a misconfiguration; null if it is already reported, and its endpoint
   * has not worked since.
   */
  lineOf(cause: Misconfiguration): LogEntry | null;
  /** Writes the log line, unless this cause has one already. @returns the error to throw */
  misconfigured(cause: Misconfiguration): ProviderUnavailableError;
  /**
   * Writes the log line of what concerns every session and is noticed at each one: at most one a
   * minute for each reason.
   *
   * @returns the error to throw
   */
  doubted(cause: Misconfiguration): ProviderUnavailableError;
  /** Reports that the endpoint works. A misconfiguration that returns later is reported again. */
  resolved(endpoint: Misconfiguration["endpoint"]): void;
  /** Writes the log line of a request that idpauth could do without. */
  warn(endpoint: "userinfo" | "revocation", message: SettingText, details: LogDetails): void;
}

/** @param names of the settings, as this provider's are set */
export function createOperatorReports(
  clock: Clock,
  events: ProviderEvents,
  names: SettingNames,
): OperatorReports {
  /** The reasons of the reported misconfigurations by endpoint. */
  const reported = new Map<string, Set<string>>();
  /** When each doubt had its last line, on the clock's `monotonic()`. */
  const doubtedAt = new Map<string, number>();

  function entry(message: SettingText, details: LogDetails): LogEntry {
    const text = textWith(names, message);
    return { level: "error", code: "provider_misconfigured", message: text, details };
  }

  function lineOf({ endpoint, reason, message, status }: Misconfiguration): LogEntry | null {
    const reasons = reported.get(endpoint) ?? new Set();
    reported.set(endpoint, reasons);
    if (reasons.has(reason)) return null;
    reasons.add(reason);
    const details = withoutUndefined({ endpoint, reason, status });
    return entry(message, details);
  }

  function misconfigured(cause: Misconfiguration): ProviderUnavailableError {
    const line = lineOf(cause);
    if (line !== null) events.log(line);
    return new ProviderUnavailableError(cause.reason, { misconfigured: true });
  }

  function doubted({ endpoint, reason, message }: Misconfiguration): ProviderUnavailableError {
    const now = clock.monotonic();
    if (now - (doubtedAt.get(reason) ?? -Infinity) >= DOUBT_LINE_MS) {
      doubtedAt.set(reason, now);
      events.log(entry(message, { endpoint, reason }));
    }
    return new ProviderUnavailableError(reason, { misconfigured: true });
  }

  function resolved(endpoint: Misconfiguration["endpoint"]): void {
    reported.delete(endpoint);
  }

  function warn(
    endpoint: "userinfo" | "revocation",
    message: SettingText,
    details: LogDetails,
  ): void {
    events.log({
      level: "warn",
      code: "provider_unavailable",
      message: textWith(names, message),
      details: { endpoint, ...details },
    });
  }

  return { lineOf, misconfigured, doubted, resolved, warn };
}
