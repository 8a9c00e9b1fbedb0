import type { ExtendableContext } from "koa";
import { describesBody, writeFresh, type IdpAuth } from "../../adapter.js";
import { IdpAuthError } from "../../index.js";

type OnError = ExtendableContext["onerror"];

/** Those of every `auth` object. */
const OURS = new WeakSet<OnError>();

/**
 * Returns an `onerror` for the contexts of requests. It responds to an error of idpauth that no
 * middleware of the application has caught, in place of Koa's own. Koa calls it as a method of the
 * context, so all requests share one.
 */
export function errorHandlerOf(uncaught: IdpAuth<ExtendableContext>["uncaught"]): OnError {
  function onerror(this: ExtendableContext, error: Error | null): void {
    const byKoa = (other: unknown) => {
      this.app.context.onerror.call(this, other as Error);
    };
    // Koa also calls it without an error, when the response has ended.
    if (!(error instanceof IdpAuthError) || this.headerSent || !this.writable) {
      byKoa(error);
      return;
    }
    Promise.resolve()
      .then(() => uncaught(error, this))
      .then((reply) => {
        if (reply === undefined) {
          byKoa(error);
          return;
        }
        this.app.emit("error", error, this);
        writeFresh(this.res, reply, describesBody);
      }, byKoa);
  }
  OURS.add(onerror);
  return onerror;
}

/**
 * Replaces the `onerror` that all contexts of Koa inherit. An application's own, such as that of
 * koa-onerror, stays.
 */
export function replaceOnError(ctx: ExtendableContext, onerror: OnError): void {
  const isOwn = Object.hasOwn(ctx, "onerror") && !OURS.has(ctx.onerror);
  if (!isOwn && !Object.hasOwn(ctx.app.context, "onerror")) ctx.onerror = onerror;
}
