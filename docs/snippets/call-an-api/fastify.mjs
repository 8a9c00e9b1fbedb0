import fastify from "fastify";
import { idpAuth } from "idpauth/fastify";

export const app = fastify();

// #region call
const auth = idpAuth({ apis: { orders: { url: "https://orders.internal/v2/" } } });
await app.register(auth.plugin);

app.get("/open-orders", { preHandler: auth.idpRequired }, async (request, reply) => {
  const response = await auth.fetchApi(request, "orders", "items?open=true");
  return response.ok ? response.json() : reply.code(502).send({ error: "orders_unavailable" });
});
// #endregion
