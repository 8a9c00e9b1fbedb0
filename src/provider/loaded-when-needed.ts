import type { Provider } from "../core/ports.js";
import type { OpenIdProviderOptions } from "./openid.js";

/**
 * The OpenID provider, whose libraries are loaded by its first use: they take longer to load than all the rest, and a
 * process that only answers requests of signed-in visitors does not need them for an hour.
 */
export function loadedWhenNeeded(options: OpenIdProviderOptions): Provider {
  let loaded: Provider | undefined;
  let loading: Promise<Provider> | undefined;
  const load = (): Promise<Provider> =>
    (loading ??= import("./openid.js")
      .then(({ createOpenIdProvider }) => (loaded = createOpenIdProvider(options)))
      .catch((error: unknown) => {
        loading = undefined;
        throw error;
      }));
  return {
    facts: async () => (await load()).facts(),
    authorizationUrl: async (request) => (await load()).authorizationUrl(request),
    // What was never used has not failed yet.
    assertTokenEndpointReady: () => loaded?.assertTokenEndpointReady(),
    exchange: async (exchange) => (await load()).exchange(exchange),
    refresh: async (refreshToken, signal) => (await load()).refresh(refreshToken, signal),
    verifyRefreshed: async (spent, previous, signal) => (await load()).verifyRefreshed(spent, previous, signal),
    revoke: async (token, hint) => (await load()).revoke(token, hint),
  };
}
