import { setInterval } from "node:timers/promises";

/** The last two keep middleware from compressing the stream, and nginx from buffering it. */
export const HEADERS = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "private, no-store, no-transform",
  "X-Accel-Buffering": "no",
};

/**
 * Yields one event a second. The last event says why the session ended. If only the process stops,
 * there is none, and the browser connects again.
 * @param {AbortSignal} ended
 */
export async function* events(ended) {
  try {
    for await (const _ of setInterval(1000, null, { signal: ended }))
      yield "event: tick\ndata: {}\n\n";
  } catch (error) {
    if (!ended.aborted) throw error;
    const { reason } = ended.reason;
    if (reason !== "closing") yield `event: ended\ndata: ${reason}\n\n`;
  }
}

/**
 * The stream as a response of the Fetch standard.
 * @param {AbortSignal} ended
 */
export function eventResponse(ended) {
  const stream = events(ended);
  const encoder = new TextEncoder();
  const body = new ReadableStream({
    async pull(controller) {
      const { done, value } = await stream.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await stream.return(undefined);
    },
  });
  return new Response(body, { headers: HEADERS });
}
