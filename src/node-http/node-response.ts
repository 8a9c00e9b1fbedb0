import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import type { IdpAuth } from "../auth/adapter-types.js";
import { GUARDED_CACHE_CONTROL, varyByCookie } from "../guard/cache-headers.js";
import { onFirstClose, type Closable } from "../http/first-close.js";
import { isStream, type AnyReply, type BodyStream, type Reply } from "../http/reply.js";
import type { EventStream } from "../sessions/event-stream.js";
import { nodeClasses } from "./node-classes.js";
import { headerText, type AnyResponse } from "./node-message.js";

/** The arguments of `writeHead`. */
type Head = [status: number, ...rest: unknown[]];

type WriteHead = (this: ServerResponse, ...head: Head) => ServerResponse;

/**
 * Keeps a guarded response out of every cache: it sets `Cache-Control: private, no-store`, unless
 * the application sets its own, and adds Cookie to Vary. For adapters: call it when the user may
 * pass.
 */
export function keepPrivate(response: AnyResponse): void {
  if (response.headersSent) return;
  const either = response as ServerResponse;
  // Set early, because libraries that send files (`send`, serve-static, koa-send) set a
  // Cache-Control only if there is none.
  if (either.getHeader("Cache-Control") === undefined)
    either.setHeader("Cache-Control", GUARDED_CACHE_CONTROL);
  keepHeadPrivate(response);
}

/** As `keepPrivate`, for frameworks that hold the headers themselves until they write the head. */
export function keepHeadPrivate(response: AnyResponse): void {
  const either = response as ServerResponse;
  const { writeHead } = either as unknown as { writeHead?: WriteHead };
  if (writeHead === undefined) {
    either.setHeader("Vary", varyByCookie(headerText(either.getHeader("Vary"))));
    return;
  }
  if (writeHead === writeGuardedHead) return;
  // Node has no event before the head is written; express-session and compression replace this
  // method for the same reason. One function for all responses: a new one for each costs Express,
  // which changes the prototypes of its responses, 9 µs.
  either.writeHead =
    writeHead === nodeClasses().ServerResponse.prototype.writeHead
      ? writeGuardedHead
      : (...head) => writePrivateHead(either, writeHead, head);
}

/** `writeHead` of node:http for a guarded response. */
function writeGuardedHead(this: ServerResponse, ...head: Head): ServerResponse {
  const { writeHead } = nodeClasses().ServerResponse.prototype as unknown as {
    writeHead: WriteHead;
  };
  return writePrivateHead(this, writeHead, head);
}

function writePrivateHead(
  response: ServerResponse,
  writeHead: WriteHead,
  head: Head,
): ServerResponse {
  if (response.headersSent) return writeHead.apply(response, head);
  const [status, first, second] = head;
  const [reason, given] =
    typeof first === "string" ? [first, second] : [undefined, first ?? second];
  const headers = privateHead(
    response,
    given as OutgoingHttpHeaders | readonly unknown[] | undefined,
  );
  return reason === undefined
    ? writeHead.call(response, status, headers)
    : writeHead.call(response, status, reason, headers);
}

/**
 * Adds the two headers. The headers that `writeHead` was given replace those that the response has.
 *
 * @returns the headers to give to `writeHead`
 */
function privateHead(
  response: ServerResponse,
  given: OutgoingHttpHeaders | readonly unknown[] | undefined,
) {
  const named = Array.isArray(given) ? undefined : (given as OutgoingHttpHeaders | undefined);
  if (Array.isArray(given)) setLines(response, given);
  let hasCacheControl = false;
  let vary: string | undefined;
  for (const name in named) {
    const lower = name.toLowerCase();
    if (lower === "cache-control") hasCacheControl = true;
    else if (lower === "vary") vary = name;
  }
  if (!hasCacheControl && response.getHeader("Cache-Control") === undefined)
    response.setHeader("Cache-Control", GUARDED_CACHE_CONTROL);
  const before = headerText(vary === undefined ? response.getHeader("Vary") : named?.[vary]);
  const after = varyByCookie(before);
  if (after === before) return named;
  if (vary !== undefined) return { ...named, [vary]: after };
  response.setHeader("Vary", after);
  return named;
}

/**
 * Sets header lines, which replace headers of the same names, so that Cache-Control and Vary are
 * read from the response.
 */
function setLines(response: ServerResponse, given: readonly unknown[]): void {
  const lines = given.flat() as OutgoingHttpHeader[];
  for (let at = 0; at < lines.length; at += 2) response.removeHeader(String(lines[at]));
  for (let at = 0; at + 1 < lines.length; at += 2)
    append(response, String(lines[at]), lines[at + 1] as string | string[]);
}

function append(response: ServerResponse, name: string, value: string | string[]): void {
  const before = response.getHeader(name);
  response.setHeader(name, before === undefined ? value : [before, value].flat().map(String));
}

/**
 * Writes a reply. Values that were set in Vary and Set-Cookie before stay. Does nothing if the head
 * was sent already: other code has responded.
 */
export function writeReply(response: AnyResponse, reply: AnyReply): void {
  if (response.headersSent) {
    cancelStream(reply);
    return;
  }
  // Both kinds of response take the same calls, but their types cannot be used alike.
  const either = response as ServerResponse;
  const { body } = reply;
  // Without a body, the head is written with the end, which tells the length.
  if (body !== undefined && isUntouched(response)) writeHeadAtOnce(either, reply);
  else setHead(either, reply);
  if (isStream(body)) sendStream(either, body);
  // With `rejectNonStandardBodyWrites` a server throws if a response to HEAD has a body.
  else either.end(isToHead(either) ? undefined : body);
}

/** Makes the `eventStream` of an adapter whose responses are those of node:http. */
export function eventStreamTo<Request extends object>(
  open: IdpAuth<Request>["openEventStream"],
): (request: Request, response: AnyResponse) => Promise<EventStream> {
  return (request, response) =>
    open(request, (reply) => {
      writeReply(response, reply);
    });
}

function isToHead(response: { readonly req?: { readonly method?: string | undefined } }): boolean {
  return response.req?.method === "HEAD";
}

function setHead(response: ServerResponse, { status, headers, setCookies, body }: AnyReply): void {
  response.statusCode = status;
  const varyBefore = response.getHeader("Vary");
  for (const name in headers) response.setHeader(name, headers[name] ?? "");
  if (varyBefore !== undefined) response.setHeader("Vary", varyByCookie(headerText(varyBefore)));
  for (const cookie of setCookies ?? []) append(response, "Set-Cookie", cookie);
  if (body !== undefined && !isStream(body))
    response.setHeader("Content-Length", Buffer.byteLength(body));
}

/**
 * Sends the head at once, and a stream as the body. When the browser leaves, it cancels the stream;
 * when that fails, it breaks the connection.
 */
export function sendStream(response: ServerResponse, stream: BodyStream): void {
  const readable = readableOf(stream);
  // Not `pipeline`: the AbortController and the error that it creates for each stream cost more
  // than the rest of a small response.
  response.on("error", () => undefined);
  breakOffWith(readable, response);
  // A response of node:http2 doesn't say that its stream has been destroyed.
  onFirstClose([(response as Streamed).stream ?? response], () => readable.destroy());
  // Otherwise the head is sent with what has arrived, in one packet.
  if (readable.readableLength === 0) sendHead(response);
  readable.pipe(response);
}

/** Breaks a response off as soon as the stream of its body fails. */
export function breakOffWith(readable: Readable, response: AnyResponse): void {
  const closed = () => {
    if (!readable.readableEnded) breakOff(response);
  };
  // Before a framework hears of the error, which may end a stream of HTTP/2 like a whole one.
  readable.on("error", closed);
  onFirstClose([readable], closed);
}

const NOTHING = new Uint8Array();

/**
 * Sends the head alone. `flushHeaders` of node:http writes it as UTF-8, which changes the bytes of
 * an API's headers above 127.
 */
export function sendHead(response: AnyResponse): void {
  const { ServerResponse } = nodeClasses();
  const { write } = ServerResponse.prototype;
  if (response instanceof ServerResponse) Reflect.apply(write, response, [NOTHING]);
  // A response of node:http2, or one that no server has made.
  else (response as unknown as Partial<ServerResponse>).flushHeaders?.();
}

/** A response of node:http2 has a stream. */
type Streamed = AnyResponse & {
  readonly stream?: Closable & {
    on(event: "error", listener: () => void): unknown;
    destroy(error: Error): unknown;
  };
};

/** Breaks a response off, so that nobody takes a part for the whole. */
export function breakOff(response: AnyResponse): void {
  const { stream } = response as Streamed;
  // With an error: a stream of HTTP/2 that is only destroyed ends like a whole one, and so does one
  // of Node 24 that is closed with a code and then destroyed, as Fastify does.
  if (stream !== undefined) {
    stream.on("error", () => undefined);
    stream.destroy(new Error("The response was broken off."));
    return;
  }
  response.destroy();
  // Wrappers for functions have no connection to break, so they would wait for the end.
  const hasConnection = (response.socket as unknown) instanceof nodeClasses().Stream;
  if (!hasConnection && response.listenerCount("error") > 0)
    response.emit("error", new Error("The response was broken off."));
}

/** A stream of the Web as one of Node. Destroying it cancels the stream. */
export function readableOf(stream: BodyStream): Readable {
  // Only a Readable of Node has `pipe`.
  return "pipe" in stream
    ? (stream as Readable)
    : nodeClasses().Readable.fromWeb(stream as Parameters<typeof Readable.fromWeb>[0]);
}

/** Cancels the stream of a reply that is not sent, because other code has responded. */
export function cancelStream({ body }: AnyReply): void {
  if (isStream(body)) readableOf(body).destroy();
}

/**
 * Whether this is a response of node:http on a connection, without headers, and without middleware
 * that changes the head when it is written.
 */
function isUntouched(response: AnyResponse): response is ServerResponse {
  const { writeHead, socket } = response as ServerResponse;
  const { ServerResponse, Socket } = nodeClasses();
  return (
    writeHead === ServerResponse.prototype.writeHead &&
    // Wrappers for functions read the headers from the response, which has none of such a head.
    socket instanceof Socket &&
    response.getHeaderNames().length === 0
  );
}

/** Costs half of setting the headers one by one. Most session probes take this way. */
function writeHeadAtOnce(
  response: ServerResponse,
  { status, headers, setCookies, body }: AnyReply,
): void {
  const lines = [...linesOf(headers)];
  if (body !== undefined && !isStream(body) && !("Content-Length" in headers))
    lines.push("Content-Length", String(Buffer.byteLength(body)));
  if (setCookies !== undefined) for (const cookie of setCookies) lines.push("Set-Cookie", cookie);
  response.writeHead(status, lines);
}

/**
 * The headers that were last written. The probe's headers are one frozen object, so they become
 * lines once.
 */
let last: Reply["headers"] | undefined;
let lastLines: readonly string[] = [];

function linesOf(headers: Reply["headers"]): readonly string[] {
  if (headers === last) return lastLines;
  const lines: string[] = [];
  for (const name in headers) lines.push(name, headers[name] ?? "");
  // Headers that can change are not remembered.
  if (Object.isFrozen(headers)) [last, lastLines] = [headers, lines];
  return lines;
}

function namesOf(response: Partial<Pick<ServerResponse, "getHeaderNames">>): readonly string[] {
  return response.getHeaderNames?.() ?? [];
}

/**
 * Writes a response in place of the handler's unfinished one, whose headers are wrong for it.
 *
 * @param drops which headers to remove; default all
 */
export function writeFresh(
  response: AnyResponse,
  reply: AnyReply,
  drops: (name: string) => boolean = () => true,
): void {
  const either = response as ServerResponse;
  for (const name of namesOf(either)) if (drops(name)) either.removeHeader(name);
  writeReply(response, reply);
}
