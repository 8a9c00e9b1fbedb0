import fastify from "fastify";
import { idpAuth } from "idpauth/fastify";
import { redisStore } from "idpauth/redis";
import { createClient } from "redis";

const client = createClient({
  url: process.env.REDIS_URL ?? "redis://localhost:6379",
  disableOfflineQueue: true,
});
client.on("error", (error) => console.error(error));
await client.connect();
const store = redisStore(client);
const url = process.env.ORDERS_URL ?? "https://orders.internal/v2/";
const auth = idpAuth({ store, apis: { orders: { url, path: "/api/orders/" } } });

// #region shutdown
const app = fastify({ return503OnClosing: false }); // serves the requests that still arrive
await app.register(auth.plugin);
// #endregion
app.addHook("onRequest", auth.proxyApi("orders"));
// #region shutdown
await app.listen({ port: Number(process.env.PORT ?? 3000), host: "127.0.0.1" });

process.once("SIGTERM", async () => {
  const closed = app.close(); // no new connections
  await auth.close({ timeout: 35 }); // ends streams and WebSockets, and waits for the rest
  setTimeout(() => app.server.closeAllConnections(), 2000).unref(); // if a request never completes
  await closed;
  await store.close?.();
  client.destroy(); // otherwise, its connection keeps the process alive
});
// #endregion

app.server.on("upgrade", (...upgrade) => auth.proxyUpgrade(...upgrade) || upgrade[1].destroy());
