import { parseUrl } from "../http/redirects.js";
import type { LogoutRequest } from "../ports/provider.js";
import type { ProviderMetadata } from "./discovery.js";
import type { ProviderSettings } from "./provider-settings.js";

/** Characters. Servers refuse longer addresses, and the user would see their error page. */
const MAX_LENGTH = 4096;

/**
 * Returns the address that ends the user's session at the provider (OpenID Connect RP-Initiated Logout 1.0 section 2); undefined if the
 * provider has none. A hint that makes the address too long is left out. Pure.
 */
export function logoutUrl(
  settings: Pick<ProviderSettings, "issuer" | "clientId" | "logoutAtProvider">,
  metadata: ProviderMetadata,
  { returnTo, state, idTokenHint }: LogoutRequest,
): string | undefined {
  const { issuer, clientId } = settings;
  const withParameters = (address: string, parameters: Readonly<Record<string, string>>): string => {
    const url = new URL(address);
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url.href;
  };
  switch (presetOf(settings)) {
    // https://auth0.com/docs/api/authentication/logout/auth-0-logout
    case "auth0":
      return withParameters(new URL("/v2/logout", issuer).href, { client_id: clientId, returnTo });
    // https://docs.aws.amazon.com/cognito/latest/developerguide/logout-endpoint.html
    case "cognito":
      return withParameters(new URL("/logout", metadata.authorization_endpoint).href, { client_id: clientId, logout_uri: returnTo });
    case undefined:
      break;
  }
  const { end_session_endpoint: endpoint } = metadata;
  if (endpoint === undefined) return undefined;
  const parameters = { client_id: clientId, post_logout_redirect_uri: returnTo, state };
  if (idTokenHint === undefined) return withParameters(endpoint, parameters);
  const hinted = withParameters(endpoint, { id_token_hint: idTokenHint, ...parameters });
  return hinted.length > MAX_LENGTH ? withParameters(endpoint, parameters) : hinted;
}

/** Returns whose logout address to use, by the setting or else by the issuer's hostname. Undefined: the `end_session_endpoint`. */
export function presetOf({
  issuer,
  logoutAtProvider: setting,
}: Pick<ProviderSettings, "issuer" | "logoutAtProvider">): "auth0" | "cognito" | undefined {
  if (setting === "auth0" || setting === "cognito") return setting;
  const host = parseUrl(issuer)?.hostname ?? "";
  if (host.endsWith(".auth0.com")) return "auth0";
  return /^cognito-idp\.[a-z0-9-]+\.amazonaws\.com$/.test(host) ? "cognito" : undefined;
}
