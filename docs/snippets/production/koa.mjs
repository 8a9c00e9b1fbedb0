import Koa from "koa";
import { idpAuth } from "idpauth/koa";
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
const app = new Koa();
auth.mount(app);
app.use(auth.proxyApi("orders"));

const server = app.listen(Number(process.env.PORT ?? 3000));

process.once("SIGTERM", async () => {
  const closed = new Promise((resolve) => server.close(resolve)); // no new connections
  await auth.close({ timeout: 35 }); // ends streams and WebSockets, and waits for the rest
  setTimeout(() => server.closeAllConnections(), 2000).unref(); // if a request never completes
  await closed;
  await store.close?.();
  client.destroy(); // otherwise, its connection keeps the process alive
});

server.on("upgrade", (...upgrade) => auth.proxyUpgrade(...upgrade) || upgrade[1].destroy());
