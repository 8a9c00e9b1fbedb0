import fastify from "fastify";
import { idpAuth } from "idpauth/fastify";
import { sqliteStore } from "idpauth/sqlite";

/** @type {import("idpauth").SessionStore} */
const store = sqliteStore(":memory:");
const url = process.env.ORDERS_URL ?? "https://orders.internal/v2/";
const auth = idpAuth({ store, apis: { orders: { url, path: "/api/orders/" } } });

// #region shutdown
const app = fastify({ return503OnClosing: false }); // serves the requests that still arrive
await app.register(auth.plugin);
app.addHook("onRequest", auth.proxyApi("orders"));
await app.listen({ port: Number(process.env.PORT ?? 3000) });

process.once("SIGTERM", async () => {
  const closed = app.close(); // no new connections
  await auth.close({ timeout: 35 }); // ends streams and WebSockets, and waits for the rest
  await closed;
  await store.close?.();
});
// #endregion

app.server.on("upgrade", (...upgrade) => auth.proxyUpgrade(...upgrade) || upgrade[1].destroy());
