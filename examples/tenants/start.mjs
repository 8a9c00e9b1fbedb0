// @ts-check
// Starts the provider for development, with a provider for each of three companies, and the
// application. Two of them are customers of the application; initech is for you to add.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { parseEnv } from "node:util";
import { Customers } from "./customers.mjs";
import { Secrets } from "./secrets.mjs";

process.chdir(import.meta.dirname);
const PORT = process.env["PORT"] ?? "3000";
const PROVIDER_PORT = process.env["PROVIDER_PORT"] ?? "9400";
const APP_ORIGIN = `http://localhost:${PORT}`;

/** @type {import("node:child_process").ChildProcess[]} */
const children = [];
const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, stop);

const ENV_FILE = "provider.env";
// A logout token may arrive at any origin, and Node.js doesn't find names below localhost everywhere.
run([
  ...["node_modules/idpauth/dist/cli/idpauth.js", "provider", "--providers=acme,globex,initech"],
  ...[`--port=${PROVIDER_PORT}`, `--base-url=${APP_ORIGIN}`, "--data=provider.json"],
  `--write-env=${ENV_FILE}`,
  ...["acme", "globex", "initech"].map(
    (key) => `--${key}.backchannel-logout-uri=${APP_ORIGIN}/idpauth/backchannel-logout/${key}`,
  ),
]);
while (!(await isReady())) {
  if (stopping.signal.aborted) process.exit();
  await setTimeout(50);
}
const settings = parseEnv(readFileSync(ENV_FILE, "utf8"));

// In production, the key comes from your secret manager, and is never next to the database.
if (!existsSync("settings.key"))
  writeFileSync("settings.key", randomBytes(32).toString("base64url"), { mode: 0o600 });
const SETTINGS_KEY = readFileSync("settings.key", "utf8");

const customers = new Customers("customers.db");
const secrets = new Secrets(SETTINGS_KEY);
for (const [key, name] of Object.entries({ acme: "Acme", globex: "Globex" })) {
  if (customers.get(key) !== undefined) continue;
  const setting = (/** @type {string} */ of) =>
    settings[`IDP_PROVIDER_${key.toUpperCase()}_${of}`] ?? "";
  customers.add(key, name);
  customers.saveProvider(key, {
    issuer: setting("ISSUER"),
    clientId: setting("CLIENT_ID"),
    secret: secrets.encrypt(setting("CLIENT_SECRET"), key),
  });
  customers.saveDomain(key, `${key}.example`);
  customers.verifyDomain(key, `${key}.example`); // without a record, which .example can't have
  customers.switchOn(key);
}
customers.close();

const { SECRET_KEY, SCOPE } = settings;
run(["server.mjs"], {
  ...{ PORT, APP_ORIGIN, SECRET_KEY, SCOPE, SETTINGS_KEY, INTERNAL_HOSTS: "127.0.0.1" },
  DNS_SERVERS: process.env["DNS_SERVERS"],
});

/** Starts a program with no environment but this. If it ends, everything ends. */
function run(/** @type {string[]} */ args, /** @type {NodeJS.ProcessEnv} */ env = {}) {
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "inherit", "inherit"] });
  children.push(child);
  child.once("exit", (code) => {
    if (!stopping.signal.aborted) process.exitCode = code ?? 1;
    stop();
  });
}

function stop() {
  stopping.abort();
  for (const child of children) child.kill("SIGTERM");
}

async function isReady() {
  try {
    const response = await fetch(`http://127.0.0.1:${PROVIDER_PORT}/acme/jwks`);
    return response.ok && existsSync(ENV_FILE);
  } catch {
    return false;
  }
}
