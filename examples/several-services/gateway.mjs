// @ts-check
import express from "express";
import { idpAuth } from "idpauth/express";
import { sqliteStore } from "idpauth/sqlite";

const names = ["orders", "billing", "reports"];
const service = (/** @type {string} */ name) => ({
  url: process.env[`${name.toUpperCase()}_URL`] ?? `https://${name}.internal/`,
  path: `/api/${name}/`,
  resource: `https://${name}.example.com`, // the token's audience: no other service accepts it
  scope: [name],
});
const auth = idpAuth({
  store: sqliteStore("sessions.db"), // on several machines: redisStore or postgresStore
  apis: Object.fromEntries(names.map((name) => [name, service(name)])),
});

const app = express();
auth.mount(app);
for (const name of names) app.use(auth.proxyApi(name));
app.use(express.static("public"));
const server = app.listen(process.env["PORT"] ?? 3000);
process.once("SIGTERM", async () => {
  server.close(); // no new connections
  await auth.close({ timeout: 35 }); // ends streams and WebSockets, and waits for the rest
  setTimeout(() => server.closeAllConnections(), 2000).unref(); // if a request never completes
});
