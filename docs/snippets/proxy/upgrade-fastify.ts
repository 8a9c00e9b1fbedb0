import websocket from "@fastify/websocket";
import fastify from "fastify";
import { idpAuth } from "idpauth/fastify";

const app = fastify();
const auth = idpAuth({
  apis: { orders: { url: "https://orders.internal/v2/", path: "/api/orders/" } },
});
await app.register(websocket, { options: { maxPayload: 65_536 } });
await app.register(auth.plugin);
app.addHook("onRequest", auth.proxyApi("orders"));
app.get("/api/ws", { websocket: true, preHandler: auth.idpRequired }, (socket) =>
  socket.send("own"),
);

// #region upgrade
await app.ready();
const others = app.server.listeners("upgrade"); // that of @fastify/websocket
app.server.removeAllListeners("upgrade").on("upgrade", (...upgrade) => {
  if (auth.proxyUpgrade(...upgrade)) return;
  for (const other of others) other.apply(app.server, upgrade);
});
await app.listen({ port: 3000 });
// #endregion
