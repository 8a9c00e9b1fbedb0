import express from "express";
import { idpAuth } from "idpauth/express";
import { sqliteStore } from "idpauth/sqlite";

/** @type {import("idpauth").SessionStore} */
const store = sqliteStore(":memory:");
const url = process.env.ORDERS_URL ?? "https://orders.internal/v2/";
const auth = idpAuth({ store, apis: { orders: { url, path: "/api/orders/" } } });
const app = express();
auth.mount(app);
app.use(auth.proxyApi("orders"));

// #region shutdown
const server = app.listen(process.env.PORT ?? 3000);

process.once("SIGTERM", async () => {
  const closed = new Promise((resolve) => server.close(resolve)); // no new connections
  await auth.close({ timeout: 35 }); // ends streams and WebSockets, and waits for the rest
  await closed;
  await store.close?.();
});
// #endregion

server.on("upgrade", (...upgrade) => auth.proxyUpgrade(...upgrade) || upgrade[1].destroy());
