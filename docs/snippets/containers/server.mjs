import { setTimeout } from "node:timers/promises";
import express from "express";
import { createClient } from "redis";
import { idpAuth } from "idpauth/express";
import { redisStore } from "idpauth/redis";

const client = createClient({
  url: process.env.REDIS_URL ?? "redis://localhost:6379",
  disableOfflineQueue: true,
});
client.on("error", (error) => console.error(error));
await client.connect();
const store = redisStore(client);
const auth = idpAuth({ store });

let isStopping = false;
const app = express();
app.get("/healthz", (_req, res) => void res.sendStatus(isStopping ? 503 : 200));
auth.mount(app);
app.get("/", auth.idpRequired, (_req, res) => void res.send("Hello"));
const server = app.listen(process.env.PORT ?? 3000);
server.keepAliveTimeout = 65_000; // so that the proxy closes its unused connections first

process.once("SIGTERM", async () => {
  isStopping = true; // the load balancer's next check takes this process out
  await setTimeout(1000 * Number(process.env.DRAIN_SECONDS ?? 0));
  const closed = new Promise((resolve) => server.close(resolve)); // no new connections
  await auth.close({ timeout: 35 }); // a refresh takes up to 30 seconds
  server.closeIdleConnections(); // otherwise, those of downloads stay for the 65 seconds
  await closed;
  await store.close?.();
  await client.close();
});
