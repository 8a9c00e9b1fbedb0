import { ServerResponse } from "node:http";
import { pipeline, Readable } from "node:stream";
import { varyByCookie, type AnyReply, type Reply } from "../../index.js";
import type { AnyResponse } from "./message.js";

/**
 * Writes a reply. Values that were set in Vary and Set-Cookie before stay. Does nothing if the head was sent already: other code has
 * responded.
 */
export function writeReply(response: AnyResponse, reply: AnyReply): void {
  if (response.headersSent) {
    cancelStream(reply);
    return;
  }
  if (typeof reply.body === "string" && isUntouched(response)) {
    writeAtOnce(response, reply, reply.body);
    return;
  }
  // Both kinds of response take the same calls, but their types cannot be used alike.
  const either = response as ServerResponse;
  const { status, headers, setCookies, body } = reply;
  either.statusCode = status;
  const varyBefore = either.getHeader("Vary");
  for (const name in headers) either.setHeader(name, headers[name] ?? "");
  if (varyBefore !== undefined) either.setHeader("Vary", varyByCookie(headerText(varyBefore)));
  for (const cookie of setCookies ?? []) either.appendHeader("Set-Cookie", cookie);
  if (typeof body === "object") {
    sendStream(either, body);
    return;
  }
  if (body !== undefined) either.setHeader("Content-Length", Buffer.byteLength(body));
  either.end(bodyFor(either, body));
}

/** Sends the head at once, and a stream as the body. When the browser leaves, it cancels the stream; when that fails, it breaks the connection. */
export function sendStream(response: ServerResponse, stream: ReadableStream<Uint8Array>): void {
  response.flushHeaders();
  pipeline(readableOf(stream), response, () => undefined);
}

/** A stream of the Web as one of Node. Destroying it cancels the stream. */
export function readableOf(stream: ReadableStream<Uint8Array>): Readable {
  return Readable.fromWeb(stream as Parameters<typeof Readable.fromWeb>[0]);
}

/** Cancels the stream of a reply that is not sent, because other code has responded. */
export function cancelStream({ body }: AnyReply): void {
  if (typeof body === "object") body.cancel().catch(() => undefined);
}

/** A header value of node:http as one text. */
export function headerText(value: string | number | readonly string[] | undefined): string | undefined {
  return typeof value === "object" ? value.join(", ") : value?.toString();
}

/** Whether this is a response of node:http without headers, and without middleware that changes the head when it is written. */
function isUntouched(response: AnyResponse): response is ServerResponse {
  return response.writeHead === ServerResponse.prototype.writeHead && response.getHeaderNames().length === 0;
}

/** Costs half of setting the headers one by one. Most session probes take this way. */
function writeAtOnce(response: ServerResponse, { status, headers, setCookies }: AnyReply, body: string): void {
  const lines = ["Content-Length", String(Buffer.byteLength(body)), ...linesOf(headers)];
  if (setCookies !== undefined) for (const cookie of setCookies) lines.push("Set-Cookie", cookie);
  response.writeHead(status, lines).end(bodyFor(response, body));
}

/** With `rejectNonStandardBodyWrites` a server throws if a response to HEAD has a body. */
function bodyFor(response: ServerResponse, body: string | undefined): string | undefined {
  return response.req.method === "HEAD" ? undefined : body;
}

/** The headers that were last written. The probe's headers are one frozen object, so they become lines once. */
let last: Reply["headers"] | undefined;
let lastLines: readonly string[] = [];

function linesOf(headers: Reply["headers"]): readonly string[] {
  if (headers === last) return lastLines;
  const lines = Object.entries(headers).flat();
  // Headers that can change are not remembered.
  if (Object.isFrozen(headers)) [last, lastLines] = [headers, lines];
  return lines;
}
