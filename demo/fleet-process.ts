/** One process of the fleet. The supervisor sends what it needs, and gets its port. */
import { once } from "node:events";
import { createServer } from "node:http";
import { sqliteStore } from "idpauth/sqlite";
import { RunningClock } from "idpauth/testing";
import { createApplication } from "./application.js";
import { listen } from "./server.js";
import { withOutage } from "./store-outage.js";

export interface ChildSetup {
  readonly env: Readonly<Record<string, string>>;
  readonly ordersUrl: string;
  readonly sessionFile: string;
  readonly name: string;
  /** Milliseconds that the demo's clock has skipped so far. */
  readonly skipped: number;
}

/** Milliseconds. */
export type ChildOrder = { readonly advance: number } | { readonly failStore: number };

/** The response to the setup, and to each order. */
export interface ChildNews {
  readonly port: number;
}

const [setup] = (await once(process, "message")) as [ChildSetup];
const clock = new RunningClock();
clock.advance(setup.skipped);
const sqlite = sqliteStore(setup.sessionFile, { clock });
const { store, fail } = withOutage(sqlite);
const { app, auth } = createApplication({ ...setup, store, clock, processName: setup.name });
const server = createServer(app);
server.on("upgrade", (request, socket, head) => {
  if (!auth.proxyUpgrade(request, socket, head)) socket.destroy();
});
const port = Number(new URL(await listen(server, 0)).port);
const news: ChildNews = { port };
process.on("message", (order: ChildOrder) => {
  if ("advance" in order) clock.advance(order.advance);
  else fail(order.failStore);
  process.send?.(news);
});
process.send?.(news);

async function close(): Promise<void> {
  server.close();
  await auth.close({ timeout: 2 });
  server.closeAllConnections();
  await sqlite.close();
  process.exit(0);
}
// Ctrl+C reaches the whole process group; the supervisor then sends SIGTERM. Without a supervisor, it ends, too.
process.on("SIGINT", () => {});
process.on("SIGHUP", () => {});
process.once("SIGTERM", () => void close());
process.once("disconnect", () => void close());
