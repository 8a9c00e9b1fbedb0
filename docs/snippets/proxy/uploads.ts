import express from "express";
import { idpAuth } from "idpauth/express";

const app = express();
const auth = idpAuth({
  apis: { orders: { url: "https://orders.internal/v2/", path: "/api/orders/" } },
});
auth.mount(app);
app.use(auth.proxyApi("orders"));

// #region uploads
const server = app.listen(3000);
server.requestTimeout = 60 * 60 * 1000; // an hour
// #endregion
