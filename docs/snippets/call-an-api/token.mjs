import express from "express";
import { idpAuth } from "idpauth/express";

export const app = express();

const auth = idpAuth({
  apis: { orders: { url: "https://orders.internal/v2/", resource: "https://orders.example.com" } },
});
auth.mount(app);

/**
 * A client of the orders API.
 *
 * @param {string} token
 */
const listOrders = (token) =>
  fetch("https://orders.internal/v2/items", { headers: { Authorization: `Bearer ${token}` } });

// #region token
app.get("/orders", auth.idpRequired, async (req, res) => {
  const token = await auth.getAccessToken(req, { api: "orders" });
  if (token === null) {
    res
      .status(401)
      .json({ authenticated: false, login_url: auth.loginUrl(req, { returnTo: "/" }) });
    return;
  }
  let response = await listOrders(token);
  if (response.status === 401) {
    const fresh = await auth.getAccessToken(req, { api: "orders", rejected: token });
    if (fresh !== null && fresh !== token) response = await listOrders(fresh);
  }
  res
    .status(response.ok ? 200 : 502)
    .json(response.ok ? await response.json() : { error: "orders_unavailable" });
});
// #endregion
