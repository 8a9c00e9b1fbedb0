import { createApplication } from "./application.js";
import { sqliteStore } from "idpauth/sqlite";
import type { Processes } from "./processes.js";
import { runDemo } from "./run.js";
import { withOutage } from "./store-outage.js";
import type { Surroundings } from "./surroundings.js";

/** The application in this process, as `node server.js` runs it. */
function inThisProcess({ env, clock, ordersUrl, sessionFile }: Surroundings): Processes {
  const sqlite = sqliteStore(sessionFile, { clock });
  const { store, fail } = withOutage(sqlite);
  const { app, auth } = createApplication({ env, store, clock, ordersUrl, processName: undefined });
  return {
    states: [{ name: "app", pid: process.pid, isRunning: true }],
    request: app,
    upgrade(request, socket, head) {
      if (!auth.proxyUpgrade(request, socket, head)) socket.destroy();
    },
    async advance(milliseconds) {
      clock.advance(milliseconds);
    },
    async failStore(milliseconds) {
      fail(milliseconds);
    },
    kill: undefined,
    async close() {
      await auth.close({ timeout: 2 });
      await sqlite.close();
    },
  };
}

await runDemo(async (surroundings) => inThisProcess(surroundings));
