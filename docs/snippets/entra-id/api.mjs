import express from "express";
import { idpAuth } from "idpauth/express";

export const app = express();

// #region api
const auth = idpAuth({
  apis: {
    orders: {
      url: "https://orders.internal/",
      scope: ["api://00001111-aaaa-2222-bbbb-3333cccc4444/Orders.Read"],
      audience: "00001111-aaaa-2222-bbbb-3333cccc4444",
    },
  },
});
// #endregion
auth.mount(app);

app.get("/orders", auth.idpRequired, async (req, res) => {
  const response = await auth.fetchApi(req, "orders", "items");
  res.status(response.status).end();
});
