import type { ExtendableContext } from "koa";
import { describesBody, type IdpAuth } from "../../adapter.js";
import { IdpAuthError } from "../../index.js";
import { writeFresh } from "../node/node.js";

type OnError = ExtendableContext["onerror"];

const OURS = new WeakSet<OnError>();

/**
 * Responds to an error of idpauth that no middleware of the application has caught, in place of
 * Koa's own `ctx.onerror`. An application's own `onerror`, such as that of koa-onerror, stays.
 */
export function replaceOnError(
  ctx: ExtendableContext,
  uncaught: IdpAuth<ExtendableContext>["uncaught"],
): void {
  const before = ctx.onerror;
  if (!OURS.has(before) && isReplaced(ctx)) return;
  const onerror: OnError = (error) => {
    // Koa also calls it without an error, when the response has ended.
    if (!(error instanceof IdpAuthError) || ctx.headerSent || !ctx.writable) {
      before.call(ctx, error);
      return;
    }
    Promise.resolve()
      .then(() => uncaught(error, ctx))
      .then(
        (reply) => {
          if (reply === undefined) {
            before.call(ctx, error);
            return;
          }
          ctx.app.emit("error", error, ctx);
          writeFresh(ctx.res, reply, describesBody);
        },
        (failed: unknown) => {
          before.call(ctx, failed as Error);
        },
      );
  };
  OURS.add(onerror);
  ctx.onerror = onerror;
}

/** Whether the application has replaced the `onerror` that all contexts of Koa inherit. */
function isReplaced(ctx: ExtendableContext): boolean {
  return Object.hasOwn(ctx, "onerror") || Object.hasOwn(ctx.app.context, "onerror");
}
