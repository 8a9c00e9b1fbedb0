// The application under soak: Express with sessions in Redis, in a process of its own. It reports
// its state on request.
import { once } from "node:events";
import { createServer } from "node:http";
import { monitorEventLoopDelay } from "node:perf_hooks";
import express from "express";
import { createClient } from "redis";
import { idpAuth } from "idpauth/express";
import { redisStore } from "idpauth/redis";
import { settled } from "idpauth/testing";

const { issuer, clientId, clientSecret, redis, api } = JSON.parse(process.argv[2] ?? "{}");

const client = createClient({
  url: redis,
  disableOfflineQueue: true,
  socket: { reconnectStrategy: () => 100 },
});
client.on("error", () => undefined);
await client.connect();
const store = redisStore(client);

const server = createServer().listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = server.address();

const lines = { count: 0, bytes: 0 };
const auth = idpAuth({
  env: {},
  baseUrl: `http://127.0.0.1:${String(port)}`,
  secretKey: "a secret key of the soak, longer than it must be",
  issuer,
  clientId,
  clientSecret,
  scope: ["openid", "email", "profile", "offline_access"],
  sessionIdleTimeout: 3600,
  sessionTtl: 3600,
  store,
  apis: { orders: { ...api, path: "/api/orders/" } },
  log: (entry) => {
    lines.count += 1;
    lines.bytes += JSON.stringify(entry).length;
  },
});

const app = express();
auth.mount(app);
app.use(auth.proxyApi("orders"));
app.get("/reports", auth.idpRequired, async (request, response) => {
  const credentials = await auth.getCredentials(request);
  response.json({ signedIn: credentials !== null });
});
app.get("/open", (_request, response) => response.json({ for: "everybody" }));

// Opened now, because Node opens them at the first line and never closes them.
for (const name of ["stdout", "stderr"]) void process[name];

const unhandled = [];
// Node warns of listeners that are never removed.
for (const kind of ["unhandledRejection", "uncaughtException", "warning"]) {
  process.on(kind, (error) => unhandled.push(`${kind}: ${String(error?.stack ?? error)}`));
}

const delay = monitorEventLoopDelay({ resolution: 10 });
delay.enable();
const whole = monitorEventLoopDelay({ resolution: 10 });
whole.enable();

server.on("request", app);
server.on("upgrade", (...upgrade) => auth.proxyUpgrade(...upgrade) || upgrade[1].destroy());
process.send({ port });

const methods = {
  /** State since the last call. Memory is measured after a garbage collection. */
  sample() {
    const p99 = delay.percentile(99) / 1e6;
    const max = delay.max / 1e6;
    globalThis.gc();
    const { rss, heapUsed, external } = process.memoryUsage();
    // The garbage collection above belongs to the measurement, not to the application.
    delay.reset();
    return {
      p99,
      max,
      rss,
      heapUsed,
      external,
      resources: resources(),
      lines: lines.count,
      unhandled: unhandled.length,
    };
  },
  /** Resources in use after the load has ended and everything has settled. */
  async rest() {
    await settled(auth);
    return {
      resources: resources(),
      unhandled,
      p99: whole.percentile(99) / 1e6,
      max: whole.max / 1e6,
      lines,
    };
  },
  /** Ends as on SIGTERM. The process must then exit by itself. */
  async end() {
    server.close();
    server.closeAllConnections();
    await auth.close();
    await store.close?.();
    client.destroy();
    process.disconnect();
  },
};

/** Counts the active resources of the event loop, by kind. */
function resources() {
  const counts = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

process.on("message", async ({ id, method }) => {
  const response = await methods[method]();
  if (process.connected) process.send({ id, response });
});
