import express from "express";
import { idpAuth } from "idpauth/express";
// #region connect
import { createClient } from "redis";
import { redisStore } from "idpauth/redis";

const client = createClient({
  url: process.env.REDIS_URL ?? "redis://localhost:6379",
  disableOfflineQueue: true,
});
client.on("error", (error) => console.error(error));
await client.connect();
const store = redisStore(client);
const auth = idpAuth({ store });
// #endregion

const app = express();
auth.mount(app);
app.get("/", auth.idpRequired, (_req, res) => void res.send("Hello"));
const server = app.listen(process.env.PORT ?? 3000);

process.once("SIGTERM", async () => {
  const closed = new Promise((resolve) => server.close(resolve)); // no new connections
  await auth.close({ timeout: 35 }); // ends streams and WebSockets, and waits for the rest
  setTimeout(() => server.closeAllConnections(), 2000).unref(); // if a request never completes
  await closed;
  await store.close?.();
  client.destroy();
});
