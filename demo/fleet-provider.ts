/**
 * The embedded provider as a process of the fleet. What it issued is stored in a file, so that it
 * survives being killed.
 */
import { DemoConfigurationError } from "./configuration.js";
import { startEmbeddedProvider } from "./embedded-provider.js";
import type { ProviderReadyMessage } from "./fleet-messages.js";
import { PEOPLE } from "./people.js";
import { endOnSignal, isTaken } from "./server.js";
import { openStateFile } from "./state-file.js";

const [file = "", port = "", redirectUri = "", idTokenSeconds = ""] = process.argv.slice(2);

async function start(): Promise<void> {
  const state = await openStateFile(file);
  if (state === undefined) throw new DemoConfigurationError(`${file} is in use.`);
  const provider = await startEmbeddedProvider({
    port: Number(port),
    state,
    redirectUris: [redirectUri],
    tokenEndpointAuthMethod: "client_secret_post",
    idTokenSeconds: Number(idTokenSeconds),
    people: PEOPLE,
  });
  endOnSignal(async () => {
    await provider.close();
    state.close();
  });
  // This process ends when its supervisor is killed.
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  const { issuer, clientId, clientSecret } = provider;
  process.send?.({ ready: true, issuer, clientId, clientSecret } satisfies ProviderReadyMessage);
}

start().catch((error: unknown) => {
  const isExplained = error instanceof DemoConfigurationError;
  const { cause } = error as Error;
  // The address is in every session, so another port is no way out.
  console.error(
    isTaken(cause) ? `Its port is taken: ${cause.message}.` : isExplained ? error.message : error,
  );
  process.exit(1);
});
