import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import type { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import {
  breakOffWith,
  cancelStream,
  GUARDED_CACHE_CONTROL,
  isStream,
  keepHeadPrivate,
  NodeRequest,
  onFirstClose,
  readableOf,
  sendHead,
  varyByCookie,
  type AnyReply,
  type BodyStream,
} from "../../adapter.js";

/** Any request of Fastify, whatever its server, schema, type provider and logger. */
export interface AnyFastifyRequest {
  /** The request of node:http or node:http2. */
  readonly raw: IncomingMessage | Http2ServerRequest;
  /** `http` or `https`, as Fastify's `trustProxy` decides. */
  readonly protocol: string;
  /** With the port, as Fastify's `trustProxy` decides. */
  readonly host: string;
  /** The client's address and those of trusted proxies; undefined without `trustProxy`. */
  readonly ips?: unknown;
  /** The result of Fastify's body parser. */
  readonly body?: unknown;
}

/** Any reply of Fastify, likewise. */
export interface AnyFastifyReply {
  /** Also true when other code has taken over the response. */
  readonly sent: boolean;
}

/**
 * A request of Fastify: that of node:http, with the path before `rewriteUrl` and Fastify's setting
 * `trustProxy`.
 */
export class FastifyMessage extends NodeRequest {
  readonly #request: AnyFastifyRequest;

  constructor(request: AnyFastifyRequest) {
    super(request.raw);
    this.#request = request;
  }

  /** Fastify's option `rewriteUrl` changes `url`; the browser knows only the original URL. */
  override get target(): string {
    // Not Fastify's own `originalUrl`, which adds a property to the request.
    const { originalUrl, url } = this.#request.raw as IncomingMessage & {
      readonly originalUrl?: string;
    };
    return originalUrl ?? url ?? "/";
  }

  override get scheme(): "http" | "https" {
    return this.#request.protocol === "https" ? "https" : "http";
  }

  /**
   * Includes the port. The forwarded host counts only if `trustProxy` says so; of several hosts
   * Fastify takes the last.
   */
  override get host(): string | undefined {
    const { raw, host: judged } = this.#request;
    const own = raw.headers.host ?? raw.headers[":authority"] ?? "";
    if (judged === own) return super.host;
    return judged === "" ? undefined : judged;
  }

  get trustsProxy(): boolean {
    return this.#request.ips !== undefined;
  }

  override body(): unknown {
    return super.body() ?? this.#request.body;
  }
}

/**
 * An upgrade as a request of Fastify, which gets none.
 * @param like a request of the same server: only its class knows `trustProxy`
 */
export function upgradeLike(
  like: object,
  message: IncomingMessage,
): AnyFastifyRequest & { readonly ip: string } {
  const upgrade = Object.create(like) as AnyFastifyRequest & { readonly ip: string };
  return Object.assign(upgrade, { raw: message });
}

/**
 * Sends a reply as a handler does, so that the application's `onSend` hooks see it. Values that
 * were set in Vary and Set-Cookie before stay. Does nothing if other code has responded.
 */
export function sendReply(any: AnyFastifyReply, own: AnyReply): void {
  if (any.sent) {
    cancelStream(own);
    return;
  }
  const { body } = own;
  const reply = any as FastifyReply;
  setReplyHead(reply, own);
  reply.send(isStream(body) ? sentAtOnce(body, reply.raw) : body);
}

/**
 * As `sendReply`. Resolves once the hooks are done and the head is sent: otherwise Fastify takes an
 * async handler that has returned for one without a response.
 */
export async function sendReplyHead(any: AnyFastifyReply, own: AnyReply): Promise<void> {
  const { raw } = any as FastifyReply;
  const readable = isStream(own.body) ? readableOf(own.body) : undefined;
  const sent = new Promise<void>((resolve) => {
    onFirstClose(readable === undefined ? [raw] : [raw, readable], resolve);
    if (readable === undefined) return;
    const pipe = readable.pipe.bind(readable);
    readable.pipe = (...to) => {
      resolve();
      return pipe(...to);
    };
  });
  sendReply(any, { ...own, ...(readable && { body: readable }) });
  await sent;
}

/** Sets everything but the body. */
export function setReplyHead(reply: FastifyReply, { status, headers, setCookies }: AnyReply): void {
  const varyBefore = reply.getHeader("vary");
  reply.code(status);
  for (const name in headers) reply.header(name, headers[name]);
  if (varyBefore !== undefined) reply.header("vary", varyByCookie(String(varyBefore)));
  if (setCookies !== undefined && setCookies.length > 0) {
    // The cookies of Fastify, and those that middleware for node:http has set on the response below
    // it.
    const before = [reply.getHeader("set-cookie") ?? []].flat();
    reply.removeHeader("set-cookie").header("set-cookie", [...before, ...setCookies]);
  }
}

/**
 * A stream for Fastify, which would send the head with the first chunk, and end a broken-off
 * response over HTTP/2 like a whole one.
 */
function sentAtOnce(body: BodyStream, response: FastifyReply["raw"]): Readable {
  const readable = readableOf(body);
  breakOffWith(readable, response);
  const pipe = readable.pipe.bind(readable);
  // Fastify calls it when the head is set. A hook `onSend` may send the stream elsewhere first.
  readable.pipe = (to, options) => {
    if (Object.is(to, response) && readable.readableLength === 0) sendHead(response);
    return pipe(to, options);
  };
  return readable;
}

/**
 * Keeps the guarded response out of every cache. Hooks see the headers on `reply`; the head is
 * corrected when it is written.
 */
export function keepReplyPrivate(any: AnyFastifyReply): void {
  if (any.sent) return;
  const reply = any as FastifyReply;
  if (reply.getHeader("cache-control") === undefined)
    reply.header("cache-control", GUARDED_CACHE_CONTROL);
  const vary = reply.getHeader("vary");
  reply.header("vary", varyByCookie(vary === undefined ? undefined : String(vary)));
  keepHeadPrivate(reply.raw);
}
