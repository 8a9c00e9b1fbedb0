import type { DemoAnswer } from "./answers.js";

/** Returns a response for frameworks that use the Fetch standard. */
export function responseOf({ status, headers, body }: DemoAnswer, method = "GET"): Response {
  if (body === "" || method === "HEAD") return new Response(null, { status, headers });
  return new Response(typeof body === "string" ? body : bytesOf(body), { status, headers });
}

function bytesOf(texts: AsyncIterable<string>): ReadableStream<Uint8Array> {
  const iterator = texts[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await iterator.next();
      if (next.done === true) controller.close();
      else controller.enqueue(encoder.encode(next.value));
    },
    async cancel() {
      await iterator.return?.();
    },
  });
}
