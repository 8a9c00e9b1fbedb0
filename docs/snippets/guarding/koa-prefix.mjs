import Koa from "koa";

// #region prefix
import Router from "@koa/router";
import { idpAuth } from "idpauth/koa";

const auth = idpAuth();
const router = new Router({ prefix: "/api" });
router.get("/reports", auth.idpRequired, (ctx) => {
  ctx.body = [];
});
// #endregion

export const app = new Koa();
auth.mount(app);
app.use(router.routes());
