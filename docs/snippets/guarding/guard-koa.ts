import Router from "@koa/router";
import { idpAuth } from "idpauth/koa";
import Koa from "koa";

const app = new Koa();
const router = new Router();
const auth = idpAuth();
auth.mount(app);

// #region guard
router.get("/reports", auth.idpRequired, async (ctx) => {
  const { user } = await auth.requireSession(ctx);
  ctx.body = { hello: user.name };
});
// #endregion
app.use(router.routes());

export { app };
