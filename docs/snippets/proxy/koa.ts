import { idpAuth } from "idpauth/koa";
import Koa from "koa";

const app = new Koa();
const auth = idpAuth({
  apis: { orders: { url: "https://orders.internal/v2/", path: "/api/orders/" } },
});
auth.mount(app);

// #region proxy
app.use(auth.proxyApi("orders"));
// #endregion

export { app };
