import type { Observation } from "../ports/observer.js";

/** How a trace goes on in another service (W3C Trace Context, W3C Baggage). */
const TRACE_HEADERS = ["traceparent", "tracestate", "baggage"];

/**
 * Sends a request to an API that joins the application's trace in place of the browser's. Baggage
 * is dropped: it would give another service what any code of the application, or a user, put there.
 */
export async function sendObserved<Sent extends { readonly status: number }>(
  headers: Pick<Headers, "delete" | "set"> | Map<string, string>,
  send: () => Promise<Sent>,
  observation: Observation,
): Promise<Sent> {
  for (const name of TRACE_HEADERS) headers.delete(name);
  for (const [name, value] of Object.entries(observation.traceHeaders)) headers.set(name, value);
  const response = await send();
  observation.note({ status: response.status });
  return response;
}
