/** The orders API as a process of its own. It is ready when it has told its port. */
import { createServer } from "node:http";
import { ordersListener } from "./orders-api.js";
import type { OrdersReadyMessage } from "./orders.js";
import { closable, endOnSignal, isTaken, listen } from "./server.js";
import { routeUpgrades } from "./web-socket.js";

const [port = "", maxAge = "", ...issuers] = process.argv.slice(2);

async function start(): Promise<void> {
  const closing = new AbortController();
  const listener = ordersListener({ issuers, maxAge: Number(maxAge), closing: closing.signal });
  const server = createServer((request, response) => void listener(request, response));
  routeUpgrades(server, Promise.resolve({ listener, close: async () => {} }));
  const close = closable(server);
  const address = await listen(server, Number(port));
  endOnSignal(() => {
    closing.abort();
    return close();
  });
  // This process ends when the demo is killed.
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.send?.({ ready: true, port: Number(new URL(address).port) } satisfies OrdersReadyMessage);
}

start().catch((error: unknown) => {
  console.error(isTaken(error) ? error.message : error);
  process.exit(1);
});
