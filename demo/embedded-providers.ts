import type { IdpAuthOptions } from "idpauth";
import { redirectUris, type DemoConfiguration, type Environment } from "./configuration.js";
import {
  startEmbeddedProvider,
  type EmbeddedProvider,
  type EmbeddedProviderOptions,
} from "./embedded-provider.js";
import { CUSTOMERS, PEOPLE } from "./people.js";
import type { DemoState } from "./state.js";

export interface EmbeddedProviders {
  readonly started: readonly EmbeddedProvider[];
  /** The client's settings at the only provider. */
  readonly env: Environment;
  /** The option `providers`, if there are several. */
  readonly options: IdpAuthOptions["providers"];
}

/** What the application knows of its two providers besides its registration there. */
const NAMED = [
  { key: "staff", name: "Example staff" },
  { key: "customers", name: "Customer account" },
] as const;

/** Starts the demo's own provider, or two of them: one for staff and one for customers. */
export async function startEmbeddedProviders(
  { providerPort, idTokenSeconds, providers }: DemoConfiguration,
  state: DemoState,
  env: Environment,
  port: number,
): Promise<EmbeddedProviders> {
  const start = (
    options: Pick<EmbeddedProviderOptions, "port" | "state" | "people">,
    named?: (typeof NAMED)[number],
  ): Promise<EmbeddedProvider> =>
    startEmbeddedProvider({
      ...options,
      ...(named && { named }),
      redirectUris: redirectUris(env, port, named?.key),
      tokenEndpointAuthMethod:
        env["IDP_TOKEN_ENDPOINT_AUTH_METHOD"]?.trim() === "client_secret_basic"
          ? "client_secret_basic"
          : "client_secret_post",
      idTokenSeconds,
    });

  const first = { port: providerPort, state, people: PEOPLE };
  if (providers === 1) {
    const only = await start(first);
    const client = {
      IDP_ISSUER: only.issuer,
      IDP_CLIENT_ID: only.clientId,
      IDP_CLIENT_SECRET: only.clientSecret,
    };
    return { started: [only], env: client, options: undefined };
  }
  const staff = await start(first, NAMED[0]);
  const customers = await start({ port: 0, state: state.second(), people: CUSTOMERS }, NAMED[1]);
  const clientAt = ({ issuer, clientId, clientSecret }: EmbeddedProvider) => ({
    issuer,
    clientId,
    clientSecret,
  });
  return {
    started: [staff, customers],
    env: {},
    options: {
      staff: { name: NAMED[0].name, ...clientAt(staff) },
      customers: { name: NAMED[1].name, ...clientAt(customers) },
    },
  };
}
