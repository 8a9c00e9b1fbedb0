import fastify from "fastify";
import { idpAuth } from "idpauth/fastify";

const app = fastify();
const auth = idpAuth({
  apis: { orders: { url: "https://orders.internal/v2/", path: "/api/orders/" } },
});
await app.register(auth.plugin);

// #region proxy
app.addHook("onRequest", auth.proxyApi("orders"));
// #endregion

export { app };
