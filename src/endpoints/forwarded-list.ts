import type { SessionRequest } from "../access/session-request.js";
import { logLine } from "../events/log-lines.js";
import type { EndpointContext } from "./context.js";

/** They make the application's origin. */
const HEADERS = ["x-forwarded-proto", "x-forwarded-host"];

/**
 * Logs once that the application's origin depends on an entry of a list: a proxy appends to a
 * header, so a client may have written the entry that the framework takes. Only a request shows it.
 * The line doesn't repeat the header, which a stranger may have sent.
 */
export function reportForwardedList(
  { request }: SessionRequest,
  { settings, events }: EndpointContext,
): void {
  if (settings.baseUrl !== null || !(settings.trustProxy || request.trustsProxy === true)) return;
  if (HEADERS.some((name) => request.header(name)?.includes(",") === true))
    events.logOnce(logLine("forwarded_list"));
}
