import Router from "@koa/router";
import { idpAuth } from "idpauth/koa";
import Koa from "koa";

export const app = new Koa();
const router = new Router();

// #region call
const auth = idpAuth({ apis: { orders: { url: "https://orders.internal/v2/" } } });
auth.mount(app);

router.get("/open-orders", auth.idpRequired, async (ctx) => {
  const response = await auth.fetchApi(ctx, "orders", "items?open=true");
  ctx.status = response.ok ? 200 : 502;
  ctx.body = response.ok ? await response.json() : { error: "orders_unavailable" };
});
app.use(router.routes());
// #endregion
