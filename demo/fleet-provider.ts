/** The embedded provider as a process of the fleet. What it issued lies in a file, so that it survives being killed. */
import { DemoConfigurationError } from "./configuration.js";
import { startEmbeddedProvider } from "./embedded-provider.js";
import type { ProviderReadyMessage } from "./fleet-messages.js";
import { endOnSignal } from "./server.js";
import { openStateFile } from "./state-file.js";

const [file = "", redirectUri = "", idTokenSeconds = ""] = process.argv.slice(2);

const state = await openStateFile(file);
if (state === undefined) throw new DemoConfigurationError(`${file} is in use.`);
const provider = await startEmbeddedProvider({
  port: 0,
  state,
  redirectUris: [redirectUri],
  tokenEndpointAuthMethod: "client_secret_post",
  idTokenSeconds: Number(idTokenSeconds),
});
endOnSignal(async () => {
  await provider.close();
  state.close();
});
// A supervisor that was killed leaves nobody behind.
process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
const { issuer, clientId, clientSecret } = provider;
process.send?.({ ready: true, issuer, clientId, clientSecret } satisfies ProviderReadyMessage);
