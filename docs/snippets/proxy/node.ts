import { createServer } from "node:http";
import { idpAuth } from "idpauth/node";

const auth = idpAuth({
  apis: { orders: { url: "https://orders.internal/v2/", path: "/api/orders/" } },
});

// #region proxy
const app = auth.proxyApi("orders")((request, response) => {
  response.end("Welcome.");
});

createServer(auth.listener(app)).listen(3000);
// #endregion
