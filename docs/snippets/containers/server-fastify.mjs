import { setTimeout as pause } from "node:timers/promises";
import fastify from "fastify";
import { createClient } from "redis";
import { idpAuth } from "idpauth/fastify";
import { redisStore } from "idpauth/redis";

const client = createClient({
  url: process.env.REDIS_URL ?? "redis://localhost:6379",
  disableOfflineQueue: true,
});
client.on("error", (error) => console.error(error));
const store = redisStore(client);
const auth = idpAuth({ store });

let isReady = false;
const app = fastify({
  keepAliveTimeout: 125_000, // so that the proxy closes its unused connections first
  return503OnClosing: false, // serves the requests that still arrive
});
app.get("/livez", async () => "OK");
app.get("/healthz", async (_request, reply) => reply.code(isReady ? 200 : 503).send());
await app.register(auth.plugin);
app.get("/", { preHandler: auth.idpRequired }, async () => "Hello");
await app.listen({ port: Number(process.env.PORT ?? 3000), host: "0.0.0.0" });

process.once("SIGTERM", async () => {
  isReady = false; // the load balancer's next check takes this process out
  await pause(1000 * Number(process.env.DRAIN_SECONDS ?? 0));
  const closed = app.close(); // no new connections
  app.server.keepAliveTimeout = 1; // when a response ends, its connection closes
  await auth.close({ timeout: 35 }); // a refresh takes up to 30 seconds
  setTimeout(() => app.server.closeAllConnections(), 2000).unref(); // if a request never completes
  await closed;
  await store.close?.();
  client.destroy(); // otherwise, its connection keeps the process alive
});

client.connect().then(() => (isReady = true), console.error); // retries until Redis responds
