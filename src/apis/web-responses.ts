/** Responses of APIs for servers of the Fetch standard on Node.js. */
import { pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createUnzip } from "node:zlib";

/**
 * Returns a stream of Node.js as one of the Web, which reads only what it is asked for. Not
 * `Readable.toWeb`, which keeps chunks besides, and throws outside of any promise if a stream is
 * canceled while it ends.
 *
 * @param first chunks before those of the stream
 */
export function webStream(
  source: Readable,
  first: readonly Uint8Array[] = [],
): ReadableStream<Uint8Array> {
  const chunks: AsyncIterator<Uint8Array, undefined> = source[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        for (const chunk of first) controller.enqueue(chunk);
      },
      async pull(controller) {
        const chunk = await chunks.next();
        if (chunk.done === true) controller.close();
        else controller.enqueue(chunk.value);
      },
      cancel: () => void source.destroy(),
    },
    { highWaterMark: 0 },
  );
}

/** Each coding costs memory, and one header can list thousands. `fetch` decodes as many. */
const MAX_CODINGS = 5;

/**
 * Decompresses a body.
 * @param codings as in Content-Encoding. Of an unknown one, or of more than five, the body stays as
 *   it is
 */
export function decoded(body: Readable, codings: string): Readable {
  let stream = body;
  const listed = codings.toLowerCase().split(",");
  if (listed.length > MAX_CODINGS) return body;
  for (const coding of listed.reverse()) {
    const decoder = decoderOf(coding.trim());
    if (decoder === undefined) return stream;
    stream = pipeline(stream, decoder, () => undefined);
  }
  return stream;
}

function decoderOf(coding: string): (NodeJS.ReadWriteStream & Readable) | undefined {
  if (coding === "br") return createBrotliDecompress();
  return /^(?:x-)?gzip$|^deflate$/.test(coding) ? createUnzip() : undefined;
}
