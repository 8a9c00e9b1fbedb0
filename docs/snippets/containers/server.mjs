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

const app = express();
app.get("/healthz", (_req, res) => void res.sendStatus(200));
auth.mount(app);
app.get("/", auth.idpRequired, (_req, res) => void res.send("Hello"));
const server = app.listen(process.env.PORT ?? 3000);

process.once("SIGTERM", async () => {
  const closed = new Promise((resolve) => server.close(resolve)); // no new connections
  await auth.close({ timeout: 35 }); // a refresh takes up to 30 seconds
  await closed;
  await store.close?.();
  await client.close();
});
