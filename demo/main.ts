/**
 * The demo: an application that uses the package's public entries only, driven by the environment.
 * With no provider in the environment it brings its own.
 */
import { createServer } from "node:http";
import { ConfigurationError } from "idpauth";
import {
  DemoConfigurationError,
  readConfiguration,
  wantsEmbeddedProvider,
  withDefaults,
  type DemoConfiguration,
  type Environment,
} from "./configuration.js";
import { startEmbeddedProviders } from "./embedded-providers.js";
import type { DemoApplication, DemoSetup } from "./application.js";
import { openKept } from "./kept.js";
import { ordersIssuers, startOrders } from "./orders.js";
import { closable, endOnSignal, isTaken, listen } from "./server.js";
import { switchesOf } from "./switches.js";
import { routeUpgrades } from "./web-socket.js";

/** Loads only the chosen framework. */
const HOSTS: Record<DemoConfiguration["host"], (setup: DemoSetup) => Promise<DemoApplication>> = {
  express: async (setup) => (await import("./express-application.js")).expressDemo(setup),
  fastify: async (setup) => (await import("./fastify-application.js")).fastifyDemo(setup),
  hono: async (setup) => (await import("./hono-application.js")).honoDemo(setup),
  koa: async (setup) => (await import("./koa-application.js")).koaDemo(setup),
  node: async (setup) => (await import("./node-application.js")).nodeDemo(setup),
  fetch: async (setup) => (await import("./fetch-application.js")).fetchDemo(setup),
};

async function start(): Promise<void> {
  const configuration = readConfiguration(process.env);
  const { sessions, state, survivesRestart, cookieName, note } = await openKept(
    configuration,
    process.env,
  );
  if (note !== undefined) console.log(note);

  // The port comes first, since the provider has to know the way back; requests wait for the
  // application behind it.
  const server = createServer();
  const closeServer = closable(server);
  const address = await listen(server, configuration.port);
  const { port } = new URL(address);
  let open: (application: DemoApplication) => void = () => {};
  const ready = new Promise<DemoApplication>((resolve) => {
    open = resolve;
  });
  server.on(
    "request",
    (request, response) => void ready.then(({ listener }) => listener(request, response)),
  );
  routeUpgrades(server, ready);

  const defaults = withDefaults(process.env, address, state.secrets.secretKey, cookieName);
  const embedded = wantsEmbeddedProvider(process.env)
    ? await startEmbeddedProviders(configuration, state, defaults, Number(port))
    : undefined;
  const env: Environment = { ...defaults, ...embedded?.env };
  const issuers = embedded?.started.map(({ issuer }) => issuer) ?? ordersIssuers(env);
  const orders =
    issuers.length === 0 ? undefined : await startOrders(issuers, configuration.maxAge);

  const switches = switchesOf(configuration, env, sessions.store);
  const store = switches?.store ?? sessions.store;
  const application = await HOSTS[configuration.host]({
    configuration,
    env,
    store,
    switches,
    providers: embedded?.options,
    orders: orders?.url,
  });
  open(application);
  endOnSignal(async () => {
    const closed = closeServer();
    await application.close();
    await closed;
    await orders?.end();
    await Promise.all(embedded?.started.map((provider) => provider.close()) ?? []);
    await sessions.close();
    state.close();
  });
  for (const { issuer, name, hasMoved } of embedded?.started ?? []) {
    console.log(`Provider: ${issuer} (${name ?? "embedded"}; you choose a person on its page)`);
    if (hasMoved)
      console.log(
        "          Its last port is taken, so its address is a new one: who signed in before may have to again.",
      );
  }
  if (orders !== undefined)
    console.log(`Orders:   ${orders.url} (an API that is a process of its own, pid ${orders.pid})`);
  console.log(`Host:     ${configuration.host}`);
  console.log(`Sessions: ${sessions.where}${survivesRestart ? " (a restart keeps them)" : ""}`);
  console.log(
    `Demo:     ${URL.canParse(env["BASE_URL"] ?? "") ? new URL(env["BASE_URL"] ?? "").origin : address}/`,
  );
  console.log("Open the demo's address and click on Reports. Ctrl+C ends it.");
}

start().catch((error: unknown) => {
  const isExplained =
    error instanceof ConfigurationError || error instanceof DemoConfigurationError;
  console.error(
    isExplained
      ? error.message
      : isTaken(error)
        ? `The port cannot be used: ${error.message}. Set PORT to another one.`
        : error,
  );
  process.exit(1);
});
