import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import type { FastifyReply } from "fastify";
import { GUARDED_CACHE_CONTROL, varyByCookie, type Reply } from "../../index.js";
import { keepHeadPrivate, NodeRequest } from "../node/node.js";

/** Any request of Fastify, whatever its server, schema, type provider and logger. */
export interface AnyFastifyRequest {
  readonly raw: IncomingMessage | Http2ServerRequest;
  readonly protocol: string;
  readonly host: string;
}

/** Any reply of Fastify, likewise. */
export interface AnyFastifyReply {
  /** As `FastifyReply` has it: also true when somebody else has taken the response over. */
  readonly sent: boolean;
}

/** As node:http has it, but for what Fastify knows of rewritten paths, proxies and HTTP/2. */
export class FastifyMessage extends NodeRequest {
  readonly #request: AnyFastifyRequest;

  constructor(request: AnyFastifyRequest) {
    super(request.raw);
    this.#request = request;
  }

  /** Fastify's option `rewriteUrl` changes `url`; the browser knows only the original one. */
  override get target(): string {
    // Not Fastify's own `originalUrl`, which leaves a property in the request.
    const { originalUrl, url } = this.#request.raw as IncomingMessage & { readonly originalUrl?: string };
    return originalUrl ?? url ?? "/";
  }

  override get scheme(): "http" | "https" {
    return this.#request.protocol === "https" ? "https" : "http";
  }

  /** With its port. Forwarded only when Fastify's option `trustProxy` says so: of several hosts the last, as Fastify has it. */
  override get host(): string | undefined {
    const { raw, host: judged } = this.#request;
    const own = raw.headers.host ?? raw.headers[":authority"] ?? "";
    if (judged === own) return super.host;
    return judged === "" ? undefined : judged;
  }
}

/**
 * Sends an answer the way a handler does, so that the application's `onSend` hooks see it. Keeps what was put into Vary and
 * Set-Cookie before. Does nothing when somebody else has answered.
 */
export function sendReply(any: AnyFastifyReply, { status, headers, setCookies, body }: Reply): void {
  if (any.sent) return;
  const reply = any as FastifyReply;
  const varyBefore = reply.getHeader("vary");
  reply.code(status);
  for (const name in headers) reply.header(name, headers[name]);
  if (varyBefore !== undefined) reply.header("vary", varyByCookie(String(varyBefore)));
  if (setCookies !== undefined && setCookies.length > 0) {
    // Those of Fastify, and those that middleware for node:http has put into the response below it.
    const before = [reply.getHeader("set-cookie") ?? []].flat();
    reply.removeHeader("set-cookie").header("set-cookie", [...before, ...setCookies]);
  }
  reply.send(body);
}

/** Keeps the guarded response out of every cache. The headers are Fastify's, so that hooks see them; the head has the last word. */
export function keepReplyPrivate(any: AnyFastifyReply): void {
  if (any.sent) return;
  const reply = any as FastifyReply;
  if (reply.getHeader("cache-control") === undefined) reply.header("cache-control", GUARDED_CACHE_CONTROL);
  const vary = reply.getHeader("vary");
  reply.header("vary", varyByCookie(vary === undefined ? undefined : String(vary)));
  keepHeadPrivate(reply.raw);
}
