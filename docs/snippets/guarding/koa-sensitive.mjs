import Koa from "koa";

// #region sensitive
import Router from "@koa/router";
import { idpAuth } from "idpauth/koa";

const auth = idpAuth();
const router = new Router({ prefix: "/api", sensitive: true });
router.use(auth.idpRequired);
// #endregion

router.get("/reports", (ctx) => {
  ctx.body = [];
});
export const app = new Koa();
auth.mount(app);
app.use(router.routes());
