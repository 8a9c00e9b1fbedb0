import express from "express";
import { hasClaim } from "idpauth";
import { idpAuth } from "idpauth/express";

export const app = express();

// #region paths
const auth = idpAuth({
  apis: {
    orders: {
      url: "https://orders.internal/v2/",
      path: "/api/orders/",
      rules: [
        { path: "admin", allow: hasClaim("groups", "admin") },
        { path: "payments", methods: ["POST"], maxAge: 300 },
        { methods: ["DELETE"], allow: hasClaim("groups", "staff") },
      ],
    },
  },
});
// #endregion
auth.mount(app);
app.use(auth.proxyApi("orders"));
