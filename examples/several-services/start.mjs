// @ts-check
// Starts the provider for development, the services, and two gateways that share a store. Each part
// is behind a load balancer of its own, so that it can be deployed without losing a request.
import { readFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { parseEnv } from "node:util";
import { Part, run, stopAll } from "./part.mjs";

const PORT = Number(process.env["PORT"] ?? 3000);
const PROVIDER_PORT = process.env["PROVIDER_PORT"] ?? "9400";
const origin = `http://localhost:${PORT}`;
const issuer = `http://127.0.0.1:${PROVIDER_PORT}`;

let isStopping = false;
for (const signal of ["SIGINT", "SIGTERM"])
  process.once(signal, async () => {
    isStopping = true;
    console.log("Stopping …");
    await stopAll();
    process.exit(0);
  });

console.log("Starting the provider …");
const file = path.join(import.meta.dirname, ".env");
const provider = run([
  ...[path.join(import.meta.dirname, "node_modules/.bin/idpauth"), "provider"],
  ...[`--port=${PROVIDER_PORT}`, `--base-url=${origin}`, `--write-env=${file}`],
  ...[`--data=${path.join(import.meta.dirname, "provider.json")}`, "--token-seconds=300"],
  `--backchannel-logout-uri=${origin}/idpauth/backchannel-logout`,
]);
const { jwks_uri, introspection_endpoint } = await discovery();
/** The settings that the command has written for the gateway. */
const settings = parseEnv(readFileSync(file, "utf8"));

/** What all services know: no secret. */
const common = { IDP_ISSUER: issuer, JWKS_URI: jwks_uri };
const node = process.execPath;
const parts = {
  orders: new Part("orders", [node, "orders.mjs"], common),
  billing: new Part("billing", [node, "billing.mjs"], common),
  reports: new Part("reports", [process.env["PYTHON"] ?? "python3", "reports.py"], {
    IDP_ISSUER: issuer,
    INTROSPECTION_ENDPOINT: introspection_endpoint,
    // The provider for development has one client. In production, register one for the service.
    REPORTS_CLIENT_ID: settings["IDP_CLIENT_ID"],
    REPORTS_CLIENT_SECRET: settings["IDP_CLIENT_SECRET"],
  }),
};
await Promise.all(Object.values(parts).map((part) => part.start()));

const gateway = new Part(
  "gateway",
  [node, "gateway.mjs"],
  {
    ...settings,
    ORDERS_URL: parts.orders.url,
    BILLING_URL: parts.billing.url,
    REPORTS_URL: parts.reports.url,
    IDP_AUTH_FINAL_REDIRECT_URL: "/",
    IDP_AUTH_LOGOUT_REDIRECT_URL: "/",
    IDP_BACKCHANNEL_LOGOUT: "on",
    IDP_LOGOUT_AT_PROVIDER: "on",
    IDP_SESSIONS_PAGE: "on",
  },
  { processes: 2, port: PORT },
);
await gateway.start();

console.log(`
Open ${origin}/ and sign in. The provider's page is ${issuer}/.
Type "deploy orders", "stop orders" or "start orders", and press Enter. Instead of orders, you can
also write billing, reports or gateway. Ctrl+C stops everything.`);

createInterface(process.stdin).on("line", async (line) => {
  const [command = "", name = ""] = line.trim().split(/\s+/);
  const part = new Map(Object.entries({ ...parts, gateway })).get(name);
  try {
    if (command === "deploy") await part?.deploy();
    if (command === "start") await part?.start();
    if (command === "stop") part?.stop();
  } catch (error) {
    console.error(String(error));
  }
});

/** Waits until the provider responds. @returns {Promise<Record<string, string>>} */
async function discovery() {
  while (!isStopping && provider.exitCode === null && provider.pid !== undefined) {
    try {
      const response = await fetch(`${issuer}/.well-known/openid-configuration`);
      return /** @type {Record<string, string>} */ (await response.json());
    } catch {
      await setTimeout(50);
    }
  }
  process.exit(1); // it has said why
}
