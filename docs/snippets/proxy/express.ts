// #region proxy
import express from "express";
import { idpAuth } from "idpauth/express";

const app = express();
// #region apis
const auth = idpAuth({
  apis: { orders: { url: "https://orders.internal/v2/", path: "/api/orders/" } },
});
auth.mount(app);

app.use(auth.proxyApi("orders"));
// #endregion
app.use(express.json()); // body parsers come after the proxy
// #endregion

export { app };
