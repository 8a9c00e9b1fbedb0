/** The bodies of requests, as undici reads them: those of Node.js, and of the Fetch standard. */
import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { IdpAuthError } from "../errors.js";
import { fetchBody } from "./fetch-transport.js";
import type { IncomingBody } from "./transport.js";

/** A body that is read piece by piece. */
export type Pieces = AsyncIterable<Uint8Array>;

/** Returns the body of a request; undefined if it has none. */
export function nodeBody(
  message: IncomingMessage | Http2ServerRequest,
): IncomingBody<Pieces> | undefined {
  const { "content-length": length, "transfer-encoding": coding } = message.headers;
  if (
    "stream" in message
      ? message.stream.endAfterHeaders
      : coding === undefined && Number(length ?? 0) === 0
  )
    return undefined;
  return {
    get stream() {
      return exactly(wholeOf(message), length === undefined ? undefined : Number(length), replaced);
    },
    isUsed:
      message.readableDidRead ||
      message.readableFlowing === true ||
      message.readableEnded ||
      // A message that no server has made may be no stream, but have only a parsed body.
      typeof (message as Partial<Readable>).pipe !== "function",
    get hasArrived() {
      return !("stream" in message) && message.complete;
    },
    async bytes() {
      const bytes = await buffer(message);
      if (!isWhole(message)) throw brokenOff();
      return bytes;
    },
  };
}

/**
 * Returns the body of a request; undefined if it has none.
 * @param length of the body as the headers say; undefined: they don't
 */
export function webBody(
  request: Request,
  length: number | undefined,
): IncomingBody<Pieces> | undefined {
  const body = fetchBody(request);
  if (body === undefined) return undefined;
  return {
    ...body,
    get stream() {
      return exactly(body.stream, length, replaced);
    },
  };
}

/**
 * Returns a body that fails unless it has that length: the API would take what is too much for the
 * next request, and wait for what is missing.
 */
export async function* exactly(
  body: Pieces | ReadableStream<Uint8Array>,
  length: number | undefined,
  wrongLength: () => Error,
): AsyncGenerator<Uint8Array> {
  let left = length ?? 0;
  // The types for browsers don't know that it is iterable.
  for await (const chunk of body as Pieces) {
    left -= chunk.byteLength;
    if (length !== undefined && left < 0) throw wrongLength();
    yield chunk;
  }
  if (length !== undefined && left > 0) throw wrongLength();
}

/** The error for a body that isn't as long as the request's headers say. */
function replaced(): IdpAuthError {
  return new IdpAuthError(
    "api_body_consumed",
    "Other code has replaced the request's body: its length is another one.",
  );
}

/**
 * After an early response the rest is discarded, as Node does with a body that nothing reads: the
 * connection serves further requests.
 */
async function* wholeOf(message: IncomingMessage | Http2ServerRequest): AsyncGenerator<Uint8Array> {
  try {
    // Otherwise the connection to the browser would break, and with it the response.
    for await (const chunk of message.iterator({ destroyOnReturn: false }))
      yield chunk as Uint8Array;
    if (!isWhole(message)) throw brokenOff();
  } finally {
    message.resume();
  }
}

/**
 * Whether a body that has ended is complete: a stream of HTTP/2 that is broken off ends like a whole
 * one. A message that is no socket's doesn't say so; neither does a stream of the Web, which fails.
 */
function isWhole(body: Readable): boolean {
  const message = body as Partial<IncomingMessage> | Http2ServerRequest;
  return "stream" in message ? !message.stream.aborted : message.complete !== false;
}

function brokenOff(): Error {
  return new Error("The browser broke the request off.");
}
