// Runs a sample of docs/snippets/live-connections that doesn't listen itself: node sample-server.mjs
// FILE. At SIGTERM it does what docs/how-to/production.md tells an application to do.
import http from "node:http";
import { pathToFileURL } from "node:url";
import { getRequestListener } from "@hono/node-server";

const port = Number(process.env["PORT"]);
await import(pathToFileURL(process.argv[2] ?? "").href);
/** @type {{ auth: any, app?: any, server?: any, serve?: any }} */
const { auth, app, server, serve } = /** @type {any} */ (globalThis).sample;

/** What the sample declares, as a server of node:http. */
function serverOf() {
  if (server !== undefined) return server;
  if (serve !== undefined)
    return http.createServer(
      (request, response) => void getRequestListener(serve)(request, response),
    );
  if (typeof app === "function") return http.createServer(app);
  if ("callback" in app)
    return http.createServer((request, response) => void app.callback()(request, response));
  return http.createServer(
    (request, response) => void getRequestListener(app.fetch)(request, response),
  );
}

const isFastify = app !== undefined && "ready" in app;
const listening = isFastify ? app.server : serverOf();
if (isFastify) await app.listen({ port, host: "127.0.0.1" });
else if (!listening.listening) listening.listen(port, "127.0.0.1");

async function stop() {
  const closed = isFastify ? app.close() : new Promise((resolve) => listening.close(resolve));
  await auth.close({ timeout: 35 });
  setTimeout(() => listening.closeAllConnections(), 2000).unref();
  await closed;
}
process.once("SIGTERM", () => void stop());
