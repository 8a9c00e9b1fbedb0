import Router from "@koa/router";
import Koa from "koa";
import { idpAuth } from "idpauth/koa";

const auth = idpAuth();

// #region own
export const required = auth.idpRequiredWith({
  unauthenticated: (ctx, blocked) => {
    ctx.status = 401;
    ctx.body = { authenticated: false, login_url: blocked.loginUrl };
  },
});
// #endregion

export const app = new Koa();
auth.mount(app);
const router = new Router();
router.get("/reports", required, (ctx) => {
  ctx.body = "passed";
});
app.use(router.routes());
