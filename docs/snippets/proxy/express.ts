import express from "express";
import { idpAuth } from "idpauth/express";

const app = express();

// #region options
const auth = idpAuth({
  apis: { orders: { url: "https://orders.internal/v2/", path: "/api/orders/" } },
});
// #endregion
auth.mount(app);

// #region proxy
app.use(auth.proxyApi("orders"));
app.use(express.json()); // body parsers come after the proxy
// #endregion

export { app };
