import type { Provider } from "../ports/provider.js";
import type { OpenIdProviderOptions } from "./openid-provider.js";

/**
 * Returns the OpenID provider. Its libraries are loaded at its first use: they take longer to load than the rest of the
 * package, and requests of signed-in users do not need them until a token expires.
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
    // Before its first use, the provider has no failures.
    assertReadyToExchange: () => loaded?.assertReadyToExchange(),
    assertReadyToRefresh: (session) => loaded?.assertReadyToRefresh(session),
    exchange: async (exchange) => (await load()).exchange(exchange),
    refresh: async (request) => (await load()).refresh(request),
    verifyRefreshed: async (spent, previous, request) => (await load()).verifyRefreshed(spent, previous, request),
    logoutUrl: async (request) => (await load()).logoutUrl(request),
    verifyLogoutToken: async (token) => (await load()).verifyLogoutToken(token),
    revoke: async (token, hint) => (await load()).revoke(token, hint),
  };
}
