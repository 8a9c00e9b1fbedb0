import { createServer } from "node:http";
import { idpAuth } from "idpauth/node";
import { sqliteStore } from "idpauth/sqlite";

/** @type {import("idpauth").SessionStore} */
const store = sqliteStore(":memory:");
const url = process.env.ORDERS_URL ?? "https://orders.internal/v2/";
const auth = idpAuth({ store, apis: { orders: { url, path: "/api/orders/" } } });
const app = auth.proxyApi("orders")((_request, response) => response.writeHead(404).end());

// #region shutdown
const server = createServer(auth.listener(app)).listen(process.env.PORT ?? 3000);

process.once("SIGTERM", async () => {
  const closed = new Promise((resolve) => server.close(resolve)); // no new connections
  await auth.close({ timeout: 35 }); // ends streams and WebSockets, and waits for the rest
  await closed;
  await store.close?.();
});
// #endregion

server.on("upgrade", (...upgrade) => auth.proxyUpgrade(...upgrade) || upgrade[1].destroy());
