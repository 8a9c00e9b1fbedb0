import { channel } from "node:diagnostics_channel";
import type { Observation } from "../ports/observer.js";

/** How a trace goes on in another service (W3C Trace Context, W3C Baggage). */
const TRACE_HEADERS = ["traceparent", "tracestate", "baggage"];

/**
 * Where undici, also the one of Node's `fetch`, tells of its requests. Who listens traces them, and
 * adds the trace headers; an API that gets two of them continues no trace.
 */
const requests = channel("undici:request:create");

/** Other runtimes have this channel too, but their `fetch` tells nothing there. */
const isTold = versionsOf(globalThis)?.["undici"] !== undefined;

type Versions = Readonly<Partial<Record<string, string>>>;

function versionsOf({ process }: { readonly process?: { readonly versions?: Versions } }) {
  return process?.versions;
}

type TracedHeaders = Pick<Headers, "delete" | "set"> | Map<string, string>;

/**
 * Sends a request to an API that joins the application's trace in place of the browser's. Baggage
 * is dropped: it would give another service what any code of the application, or a user, put there.
 */
export async function sendObserved<Sent extends { readonly status: number }>(
  headers: TracedHeaders,
  send: () => Promise<Sent>,
  observation: Observation,
): Promise<Sent> {
  dropTraceHeaders(headers);
  if (!isTraced())
    for (const [name, value] of Object.entries(observation.traceHeaders)) headers.set(name, value);
  const response = await send();
  observation.note({ status: response.status });
  return response;
}

/** Sends the browser's request to an API. Its trace goes on only if nobody else traces it. */
export function sendUnobserved<Sent>(
  headers: TracedHeaders,
  send: () => Promise<Sent>,
): Promise<Sent> {
  if (isTraced()) dropTraceHeaders(headers);
  return send();
}

function isTraced(): boolean {
  return isTold && requests.hasSubscribers;
}

function dropTraceHeaders(headers: TracedHeaders): void {
  for (const name of TRACE_HEADERS) headers.delete(name);
}
