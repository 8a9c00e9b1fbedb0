import type { ExtendableContext } from "koa";
import type { Reply } from "../../index.js";
import { NodeRequest, writeReply } from "../node/node.js";

/** As node:http has it, but for what Koa knows of mounted applications and proxies. */
export class KoaRequest extends NodeRequest {
  readonly #ctx: ExtendableContext;

  constructor(ctx: ExtendableContext) {
    super(ctx.req);
    this.#ctx = ctx;
  }

  /** koa-mount and rewriting middleware change `ctx.url`; the browser knows only the original one. */
  override get target(): string {
    return this.#ctx.originalUrl;
  }

  override get scheme(): "http" | "https" {
    if (!this.#isForwarded("x-forwarded-proto")) return super.scheme;
    return this.#ctx.protocol === "https" ? "https" : "http";
  }

  /** Koa's own answer only where a proxy gave it: it would make a host of `user@host`, and believe the first of two Hosts. */
  override get host(): string | undefined {
    if (!this.#isForwarded("x-forwarded-host")) return super.host;
    return this.header("x-forwarded-host")?.split(",", 1)[0]?.trim();
  }

  /** `app.proxy` trusts everybody. Of the application that listens: a mounted one runs with its context. */
  #isForwarded(name: string): boolean {
    return this.#ctx.app.proxy && Boolean(this.header(name));
  }
}

/**
 * Makes an answer the context's own, which Koa writes at the end, so that middleware above can still act on it. Keeps what was
 * put into Vary and Set-Cookie before. Does nothing when the head is already on its way: somebody else has answered.
 */
export function answerWith(ctx: ExtendableContext, reply: Reply): void {
  if (ctx.headerSent) return;
  if (ctx.respond === false) {
    // Somebody above took the response from Koa, which will not write it.
    writeReply(ctx.res, reply);
    return;
  }
  const { response, res } = ctx;
  if (reply.body === undefined) {
    // A type that is there already would make Koa write a body of its own for an empty one, and null makes the status 204.
    res.removeHeader("Content-Type");
    response.body = null;
  }
  response.status = reply.status;
  // Set as `ctx.set` sets them, without what that costs each time.
  const varied = res.getHeader("Vary");
  for (const name in reply.headers) res.setHeader(name, reply.headers[name] ?? "");
  if (varied !== undefined) {
    res.setHeader("Vary", varied);
    response.vary(reply.headers["Vary"] ?? "Cookie");
  }
  if (reply.setCookies !== undefined) response.append("Set-Cookie", [...reply.setCookies]);
  // After its type, which Koa would guess otherwise.
  if (reply.body !== undefined) response.body = reply.body;
}
