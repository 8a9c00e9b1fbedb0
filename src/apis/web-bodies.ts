/** Bodies of the Fetch standard over node:http. */
import { pipeline, Readable } from "node:stream";
import { createBrotliDecompress, createUnzip } from "node:zlib";
import { IdpAuthError } from "../errors.js";
import { fetchBody } from "./fetch-transport.js";
import type { IncomingBody } from "./transport.js";

/**
 * Returns the body of a request; undefined if it has none.
 * @param length of the body as the headers say; undefined: they don't
 */
export function webBody(
  request: Request,
  length: number | undefined,
): IncomingBody<Readable> | undefined {
  const body = fetchBody(request);
  if (body === undefined) return undefined;
  return {
    ...body,
    get stream() {
      return nodeStream(body.stream, length, replaced);
    },
  };
}

/** The error for a body that isn't as long as the request's headers say. */
export function replaced(): IdpAuthError {
  return new IdpAuthError(
    "api_body_consumed",
    "Other code has replaced the request's body: its length is another one.",
  );
}

/**
 * Returns a stream as one of Node.js, which fails unless it has that length: the API would take what
 * is too much for the next request, and wait for what is missing.
 */
export function nodeStream(
  stream: ReadableStream<Uint8Array> | Readable,
  length: number | undefined,
  wrongLength: () => Error,
): Readable {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    let left = length ?? 0;
    for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) {
      left -= chunk.byteLength;
      if (length !== undefined && left < 0) throw wrongLength();
      yield chunk;
    }
    if (length !== undefined && left > 0) throw wrongLength();
  }
  return Readable.from(chunks(), { objectMode: false });
}

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
