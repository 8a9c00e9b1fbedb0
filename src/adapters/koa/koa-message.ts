import type { ExtendableContext } from "koa";
import {
  cancelStream,
  isStream,
  NodeRequest,
  sendStream,
  writeReply,
  type AnyReply,
} from "../../adapter.js";

/** A request of Koa: that of node:http, with Koa's original URL and its setting `app.proxy`. */
export class KoaRequest extends NodeRequest {
  readonly #ctx: ExtendableContext;

  constructor(ctx: ExtendableContext) {
    super(ctx.req);
    this.#ctx = ctx;
  }

  /**
   * koa-mount and rewriting middleware change `ctx.url`; the browser knows only the original URL.
   */
  override get target(): string {
    return this.#ctx.originalUrl;
  }

  override get scheme(): "http" | "https" {
    if (!this.#isForwarded("x-forwarded-proto")) return super.scheme;
    return this.#ctx.protocol === "https" ? "https" : "http";
  }

  /** Not `ctx.host`, which accepts `user@host` and the first of two Host headers. */
  override get host(): string | undefined {
    if (!this.#isForwarded("x-forwarded-host")) return super.host;
    return this.header("x-forwarded-host")?.split(",", 1)[0]?.trim();
  }

  /** Body parsers set `ctx.request.body`. */
  override body(): unknown {
    return super.body() ?? (this.#ctx.request as { readonly body?: unknown }).body;
  }

  /**
   * `app.proxy` trusts every client. It is read from the application that listens: a mounted
   * application runs with its context.
   */
  get trustsProxy(): boolean {
    return this.#ctx.app.proxy;
  }

  #isForwarded(name: string): boolean {
    return this.trustsProxy && Boolean(this.header(name));
  }
}

/**
 * Sets a reply on the context, which Koa writes at the end, so that outer middleware can still
 * change it. Values that were set in Vary and Set-Cookie before stay. Does nothing if the head was
 * sent already: other code has responded.
 */
export function setReply(ctx: ExtendableContext, reply: AnyReply): void {
  if (ctx.headerSent) {
    cancelStream(reply);
    return;
  }
  if (ctx.respond === false) {
    // Outer middleware took the response from Koa, which will not write it.
    writeReply(ctx.res, reply);
    return;
  }
  const { response, res } = ctx;
  if (reply.body === undefined) {
    // With a type set, Koa writes a body of its own for an empty one, and null makes the
    // status 204.
    res.removeHeader("Content-Type");
    response.body = null;
  }
  response.status = reply.status;
  // As `ctx.set`, without its cost for each header.
  const varied = res.getHeader("Vary");
  for (const name in reply.headers) res.setHeader(name, reply.headers[name] ?? "");
  if (varied !== undefined) {
    res.setHeader("Vary", varied);
    response.vary(reply.headers["Vary"] ?? "Cookie");
  }
  if (reply.setCookies !== undefined) response.append("Set-Cookie", [...reply.setCookies]);
  // After the type, which Koa would guess otherwise.
  if (!isStream(reply.body)) {
    if (reply.body !== undefined) response.body = reply.body;
    return;
  }
  // Koa itself would report every browser that leaves a stream as an error.
  ctx.respond = false;
  sendStream(res, reply.body);
}
