import type { Provider } from "../ports/provider.js";
import type { OpenIdProviderOptions } from "./openid-provider.js";

/**
 * The OpenID provider, whose libraries are loaded by its first use: they take longer to load than all the rest, and a
 * process that only answers requests of signed-in visitors does not need them for an hour.
 */
export function loadedWhenNeeded(options: OpenIdProviderOptions): Provider {
  let loaded: Provider | undefined;
  let loading: Promise<Provider> | undefined;
  const load = (): Promise<Provider> =>
    (loading ??= import("./openid-provider.js")
      .then(({ createOpenIdProvider }) => (loaded = createOpenIdProvider(options)))
      .catch((error: unknown) => {
        loading = undefined;
        throw error;
      }));
  return {
    facts: async () => (await load()).facts(),
    authorizationUrl: async (request) => (await load()).authorizationUrl(request),
    // A provider that was never used has not failed yet.
    assertReadyToExchange: () => loaded?.assertReadyToExchange(),
    assertReadyToRefresh: (session) => loaded?.assertReadyToRefresh(session),
    exchange: async (exchange) => (await load()).exchange(exchange),
    refresh: async (request) => (await load()).refresh(request),
    verifyRefreshed: async (spent, previous, request) => (await load()).verifyRefreshed(spent, previous, request),
    revoke: async (token, hint) => (await load()).revoke(token, hint),
  };
}
