// @ts-check
import { Resolver } from "node:dns/promises";
import { sqliteStore } from "idpauth/sqlite";
import { createApp } from "./app.mjs";
import { Customers } from "./customers.mjs";
import { Secrets } from "./secrets.mjs";

const listed = (/** @type {string} */ name) =>
  (process.env[name] ?? "").split(",").filter((part) => part !== "");

const resolver = new Resolver({ timeout: 2000, tries: 2 });
const servers = listed("DNS_SERVERS");
if (servers.length > 0) resolver.setServers(servers);

const customers = new Customers("customers.db");
const store = sqliteStore("sessions.db"); // a file of its own; on several machines: redisStore
const { app, auth } = createApp(
  {
    origin: process.env["APP_ORIGIN"] ?? "http://localhost:3000",
    customers,
    secrets: new Secrets(process.env["SETTINGS_KEY"]),
    resolveTxt: (name) => resolver.resolveTxt(name),
    internalHosts: listed("INTERNAL_HOSTS"),
  },
  { store }, // other settings come from the environment
);

const server = app.listen(process.env["PORT"] ?? 3000, (error) => {
  if (error) throw error;
  const address = server.address();
  console.log(`http://localhost:${typeof address === "object" ? address?.port : address}/`);
});

process.once("SIGTERM", async () => {
  server.close(); // no new connections
  await auth.close(); // ends event streams, and waits for running refreshes
  setTimeout(() => server.closeAllConnections(), 2000).unref(); // if a request never completes
});
