import { setTimeout as pause } from "node:timers/promises";
import express from "express";
import { createClient } from "redis";
import { idpAuth } from "idpauth/express";
import { redisStore } from "idpauth/redis";

const client = createClient({
  url: process.env.REDIS_URL ?? "redis://localhost:6379",
  disableOfflineQueue: true,
});
client.on("error", (error) => console.error(error));
const store = redisStore(client);
const auth = idpAuth({ store });

let isReady = false;
const app = express();
app.get("/livez", (_req, res) => void res.sendStatus(200));
app.get("/healthz", (_req, res) => void res.sendStatus(isReady ? 200 : 503));
auth.mount(app);
app.get("/", auth.idpRequired, (_req, res) => void res.send("Hello"));
const server = app.listen(process.env.PORT ?? 3000);
server.keepAliveTimeout = 125_000; // so that the proxy closes its unused connections first

process.once("SIGTERM", async () => {
  isReady = false; // the load balancer's next check takes this process out
  await pause(1000 * Number(process.env.DRAIN_SECONDS ?? 0));
  const closed = new Promise((resolve) => server.close(resolve)); // no new connections
  server.keepAliveTimeout = 1; // when a response ends, its connection closes
  await auth.close({ timeout: 35 }); // a refresh takes up to 30 seconds
  setTimeout(() => server.closeAllConnections(), 2000).unref(); // if a request never completes
  await closed;
  await store.close?.();
  client.destroy(); // otherwise, its connection keeps the process alive
});

client.connect().then(() => (isReady = true), console.error); // retries until Redis responds
