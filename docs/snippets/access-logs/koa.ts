import Router from "@koa/router";
import Koa from "koa";
import { idpAuth } from "idpauth/koa";

export const app = new Koa();
const auth = idpAuth();
const router = new Router();

// #region log
app.use(async (ctx, next) => {
  ctx.res.once("close", () => {
    const user = auth.seenSession(ctx)?.user.id ?? null;
    console.log(JSON.stringify({ method: ctx.method, path: ctx.path, status: ctx.status, user }));
  });
  await next();
});
auth.mount(app);
// #endregion

router.get("/reports", auth.idpRequired, (ctx) => {
  ctx.body = "passed";
});
router.get("/broken", auth.idpRequired, () => {
  throw new Error("This route is broken.");
});
app.use(router.routes());
