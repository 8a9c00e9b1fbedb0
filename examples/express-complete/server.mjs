// @ts-check
import { createServer } from "node:http";
import { createApp } from "./app.mjs";
import { Notices } from "./notices.mjs";
import { connectRedis } from "./redis.mjs";
import { createTelemetry } from "./telemetry.mjs";

const telemetry = createTelemetry((line) => console.log(line));
const [redis, subscriber] = [await connectRedis(telemetry), await connectRedis(telemetry)];
const notices = new Notices(redis);
await notices.receive(subscriber);

const ordersUrl = process.env["ORDERS_URL"] ?? "http://localhost:4000/";
const { app, auth } = createApp({ redis, notices, telemetry, ordersUrl });
const server = createServer(app);
server.on("upgrade", (...upgrade) => auth.proxyUpgrade(...upgrade) || upgrade[1].destroy());
server.listen(Number(process.env["PORT"] ?? 3000), () => {
  const address = server.address();
  console.log(`http://localhost:${typeof address === "object" ? address?.port : address}/`);
});

// Only this machine can read the counters.
const metrics = createServer(async (_request, response) => {
  response.setHeader("Content-Type", telemetry.registry.contentType);
  response.end(await telemetry.registry.metrics());
});
metrics.listen(Number(process.env["METRICS_PORT"] ?? 9464), "127.0.0.1");

process.once("SIGTERM", async () => {
  const closed = new Promise((resolve) => server.close(resolve)); // no new connections
  await auth.close({ timeout: 35 }); // ends streams and WebSockets, and waits for the rest
  setTimeout(() => server.closeAllConnections(), 2000).unref(); // if a request never completes
  await closed;
  metrics.close().closeAllConnections();
  for (const client of [redis, subscriber]) client.destroy();
});
