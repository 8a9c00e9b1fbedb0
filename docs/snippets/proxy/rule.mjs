import express from "express";
import { hasClaim } from "idpauth";
import { idpAuth } from "idpauth/express";

export const app = express();

// #region rule
const auth = idpAuth({
  apis: {
    orders: {
      url: "https://orders.internal/v2/",
      path: "/api/orders/",
      methods: ["GET", "POST"],
      requestHeaders: { "X-Api-Version": "2" },
      timeout: 60,
    },
  },
});
auth.mount(app);

app.use(auth.proxyApi("orders", { allow: hasClaim("groups", "staff"), maxAge: 3600 }));
// #endregion
