/**
 * The demo: an application that uses the package's public entries only, driven by the environment. With no provider in
 * the environment it brings its own.
 */
import { createServer, type RequestListener } from "node:http";
import { ConfigurationError } from "idpauth";
import {
  DemoConfigurationError,
  readConfiguration,
  redirectUris,
  wantsEmbeddedProvider,
  withDefaults,
  type DemoConfiguration,
  type Environment,
} from "./configuration.js";
import { startEmbeddedProvider, type EmbeddedProvider } from "./embedded-provider.js";
import { expressDemo } from "./express-host.js";
import { closable, listen } from "./server.js";

const HOSTS: Record<DemoConfiguration["host"], (configuration: DemoConfiguration, env: Environment) => RequestListener> = {
  express: expressDemo,
};

async function start(): Promise<void> {
  const configuration = readConfiguration(process.env);

  // The port comes first, since the provider has to know the way back; requests wait for the application behind it.
  const server = createServer();
  const closeServer = closable(server);
  const address = await listen(server, configuration.port);
  const { port } = new URL(address);
  let open: (app: RequestListener) => void = () => {};
  const ready = new Promise<RequestListener>((resolve) => {
    open = resolve;
  });
  server.on("request", (request, response) => void ready.then((app) => app(request, response)));

  const defaults = withDefaults(process.env);
  const provider = wantsEmbeddedProvider(process.env) ? await startProvider(configuration, defaults, Number(port)) : undefined;
  const env: Environment =
    provider === undefined
      ? defaults
      : { ...defaults, IDP_ISSUER: provider.issuer, IDP_CLIENT_ID: provider.clientId, IDP_CLIENT_SECRET: provider.clientSecret };

  open(HOSTS[configuration.host](configuration, env));
  endOnSignal(async () => {
    await closeServer();
    await provider?.close();
  });
  if (provider !== undefined) console.log(`Provider: ${provider.issuer} (embedded; signs in whomever you click on)`);
  console.log(`Demo:     ${URL.canParse(env["BASE_URL"] ?? "") ? new URL(env["BASE_URL"] ?? "").origin : address}/`);
  console.log("Open the demo's address and click on Reports. Ctrl+C ends it.");
}

function startProvider(configuration: DemoConfiguration, env: Environment, port: number): Promise<EmbeddedProvider> {
  return startEmbeddedProvider({
    port: configuration.providerPort,
    redirectUris: redirectUris(env, port),
    tokenEndpointAuthMethod:
      env["IDP_TOKEN_ENDPOINT_AUTH_METHOD"]?.trim() === "client_secret_basic" ? "client_secret_basic" : "client_secret_post",
    idTokenSeconds: configuration.idTokenSeconds,
  });
}

/** Milliseconds within which a second signal is the first one again: a terminal tells the demo, and npm passes it on. */
const SAME_SIGNAL = 500;

/** Running requests are finished first; a second signal does not wait for them. */
function endOnSignal(close: () => Promise<void>): void {
  let endingSince: number | undefined;
  const end = () => {
    if (endingSince !== undefined) {
      if (performance.now() - endingSince > SAME_SIGNAL) process.exit(1);
      return;
    }
    endingSince = performance.now();
    void close().then(() => process.exit(0));
  };
  process.on("SIGTERM", end);
  process.on("SIGINT", end);
}

start().catch((error: unknown) => {
  const isExplained = error instanceof ConfigurationError || error instanceof DemoConfigurationError;
  const isPort = error instanceof Error && "code" in error && (error.code === "EADDRINUSE" || error.code === "EACCES");
  console.error(isExplained ? error.message : isPort ? `The port cannot be used: ${error.message}. Set PORT to another one.` : error);
  process.exit(1);
});
