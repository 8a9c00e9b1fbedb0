import type { Provider } from "../ports/provider.js";
import { lazily } from "../work/lazily.js";
import type { ProviderParts } from "./component-parts.js";

const loadProvider = lazily(() => import("../provider/openid-provider.js"));
/** Loaded where a client has a certificate. */
const loadCertified = lazily(() => import("../provider/certificates/certified-requests.js"));

/**
 * Returns the OpenID provider. Its libraries take longer to load than the rest of the package, so
 * importing the package does not load them. Creating the provider begins to, and a request that
 * comes earlier waits.
 */
export function lateProvider({ tasks, endpoints, shutdown, ...options }: ProviderParts): Provider {
  let loaded: Provider | undefined;
  const certified = lazily(async () => {
    if (options.settings.clientCertificate === null) return undefined;
    if (options.certified !== undefined) return options.certified;
    const { createCertifiedRequests } = await loadCertified();
    const requests = createCertifiedRequests(options.settings);
    shutdown.atEnd(requests.release);
    return requests.fetch;
  });
  const load = lazily(async () => {
    const [{ createOpenIdProvider }, own, sends] = await Promise.all([
      loadProvider(),
      endpoints?.(),
      certified(),
    ]);
    return (loaded = createOpenIdProvider({ ...options, endpoints: own, certified: sends }));
  });
  tasks.add(load());
  return {
    facts: async () => (await load()).facts(),
    checkApiToken: async (spent, previous, request) =>
      (await load()).checkApiToken(spent, previous, request),
    authorizationUrl: async (request) => (await load()).authorizationUrl(request),
    createDpopKey: async () => (await load()).createDpopKey(),
    verifyResponse: async (response) => (await load()).verifyResponse(response),
    // Before its first use, the provider has no failures.
    assertReadyToExchange: () => loaded?.assertReadyToExchange(),
    assertReadyToRefresh: (session, api) => loaded?.assertReadyToRefresh(session, api),
    exchange: async (exchange) => (await load()).exchange(exchange),
    refresh: async (request) => (await load()).refresh(request),
    verifyRefreshed: async (spent, previous, request) =>
      (await load()).verifyRefreshed(spent, previous, request),
    logoutUrl: async (request) => (await load()).logoutUrl(request),
    verifyLogoutToken: async (token) => (await load()).verifyLogoutToken(token),
    revoke: async (token, hint) => (await load()).revoke(token, hint),
  };
}
