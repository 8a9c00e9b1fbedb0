import { Hono } from "hono";
import { idpAuth } from "idpauth/hono";

export const app = new Hono();

// #region call
const auth = idpAuth({ apis: { orders: { url: "https://orders.internal/v2/" } } });
auth.mount(app);

app.get("/open-orders", auth.idpRequired, async (c) => {
  const response = await auth.fetchApi(c, "orders", "items?open=true");
  return response.ok ? c.json(await response.json()) : c.json({ error: "orders_unavailable" }, 502);
});
// #endregion
