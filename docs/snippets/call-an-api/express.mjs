import express from "express";
import { idpAuth } from "idpauth/express";

export const app = express();

// #region call
const auth = idpAuth({ apis: { orders: { url: "https://orders.internal/v2/" } } });
auth.mount(app);

app.get("/open-orders", auth.idpRequired, async (req, res) => {
  const response = await auth.fetchApi(req, "orders", "items?open=true");
  res
    .status(response.ok ? 200 : 502)
    .json(response.ok ? await response.json() : { error: "orders_unavailable" });
});
// #endregion
