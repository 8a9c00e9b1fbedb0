import { Hono } from "hono";
import { idpAuth } from "idpauth/hono";

const app = new Hono();
const auth = idpAuth({
  apis: { orders: { url: "https://orders.internal/v2/", path: "/api/orders/" } },
});
auth.mount(app);

// #region proxy
app.use(auth.proxyApi("orders"));
// #endregion

export { app };
