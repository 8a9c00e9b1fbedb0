import cluster from "node:cluster";
import { availableParallelism } from "node:os";
import express from "express";
import { idpAuth } from "idpauth/express";
import { sqliteStore } from "idpauth/sqlite";

/** @type {import("idpauth").SessionStore} */
const store = sqliteStore(process.env.SESSIONS ?? "sessions.db");
const auth = idpAuth({ store });
const app = express();
auth.mount(app);

// #region primary
if (cluster.isPrimary) {
  let isStopping = false;
  cluster.on("listening", (worker) => {
    worker.once("exit", () => isStopping || cluster.fork()); // replaces a worker that has crashed
  });
  for (let count = availableParallelism(); count > 0; count -= 1) cluster.fork();
  process.once("SIGTERM", () => {
    isStopping = true;
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill("SIGTERM");
  });
} else {
  // a worker: the sample for Express, whose handler ends with process.disconnect()
  // #endregion
  const server = app.listen(process.env.PORT ?? 3000);
  process.once("SIGTERM", async () => {
    const closed = new Promise((resolve) => server.close(resolve)); // no new connections
    await auth.close({ timeout: 35 }); // ends streams and WebSockets, and waits for the rest
    setTimeout(() => server.closeAllConnections(), 2000).unref(); // if a request never completes
    await closed;
    await store.close?.();
    process.disconnect(); // otherwise, the channel to the primary keeps the worker alive
  });
  // #region primary
}
// #endregion
