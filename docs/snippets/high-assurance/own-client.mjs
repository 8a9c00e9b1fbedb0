import express from "express";
import { idpAuth } from "idpauth/express";

export const app = express();

const base = process.env["ORDERS_URL"] ?? "https://orders.internal/v2/";
const auth = idpAuth({ apis: { orders: { url: base } } });
auth.mount(app);

// #region client
app.get("/orders", auth.idpRequired, async (req, res) => {
  const url = new URL("items?open=true", base);
  const accessToken = await auth.getAccessToken(req, { api: "orders" });
  if (accessToken === null) return res.redirect(auth.loginUrl(req));

  /** @param {string} [nonce] */
  const listOrders = async (nonce) => {
    const proof = await auth.dpopProof(req, { method: "GET", url, accessToken, nonce });
    const headers = proof
      ? { Authorization: `DPoP ${accessToken}`, DPoP: proof }
      : { Authorization: `Bearer ${accessToken}` };
    return fetch(url, { headers });
  };

  let response = await listOrders();
  const nonce = response.headers.get("DPoP-Nonce");
  if (response.status === 401 && nonce) response = await listOrders(nonce);
  return response.ok ? res.json(await response.json()) : res.sendStatus(502);
});
// #endregion
