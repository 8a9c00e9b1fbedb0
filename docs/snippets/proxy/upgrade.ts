import { createServer } from "node:http";
import express from "express";
import { idpAuth } from "idpauth/express";

const app = express();
const auth = idpAuth({
  apis: { orders: { url: "https://orders.internal/v2/", path: "/api/orders/" } },
});
auth.mount(app);
app.use(auth.proxyApi("orders"));

// #region upgrade
const server = createServer(app);
server.on("upgrade", (...upgrade) => auth.proxyUpgrade(...upgrade) || upgrade[1].destroy());
server.listen(3000);
// #endregion
