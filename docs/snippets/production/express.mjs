import express from "express";
import { idpAuth as create } from "idpauth/express";
import { redisStore } from "idpauth/redis";
import { createClient } from "redis";

// An API behind the proxy, so that a test has everything open that `auth.close()` ends.
const url = process.env.ORDERS_URL ?? "https://orders.internal/v2/";
/** @param {{ store: import("idpauth").SessionStore }} options */
const idpAuth = ({ store }) => create({ store, apis: { orders: { url, path: "/api/orders/" } } });

// #region shutdown
const client = createClient({
  url: process.env.REDIS_URL ?? "redis://localhost:6379",
  disableOfflineQueue: true,
});
client.on("error", (error) => console.error(error));
await client.connect();
const store = redisStore(client);
const auth = idpAuth({ store });
const app = express();
auth.mount(app);
// #endregion
app.use(auth.proxyApi("orders"));
// #region shutdown
const server = app.listen(process.env.PORT ?? 3000);

process.once("SIGTERM", async () => {
  const closed = new Promise((resolve) => server.close(resolve)); // no new connections
  await auth.close({ timeout: 35 }); // ends streams and WebSockets, and waits for the rest
  setTimeout(() => server.closeAllConnections(), 2000).unref(); // if a request never completes
  await closed;
  await store.close?.();
  client.destroy(); // otherwise, its connection keeps the process alive
});
// #endregion

server.on("upgrade", (...upgrade) => auth.proxyUpgrade(...upgrade) || upgrade[1].destroy());
