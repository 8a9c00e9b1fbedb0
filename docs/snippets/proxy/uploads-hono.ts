import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { idpAuth } from "idpauth/hono";

const app = new Hono();
const auth = idpAuth({
  apis: { orders: { url: "https://orders.internal/v2/", path: "/api/orders/" } },
});
auth.mount(app);
app.use(auth.proxyApi("orders"));

// #region uploads
serve({
  fetch: app.fetch,
  port: 3000,
  serverOptions: { requestTimeout: 60 * 60 * 1000 }, // an hour
});
// #endregion
