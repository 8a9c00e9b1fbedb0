import { logoutPresetOf } from "../config/issuers.js";
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
  const preset = logoutPresetOf(settings);
  // https://auth0.com/docs/api/authentication/logout/auth-0-logout
  if (preset === "auth0") return withParameters(new URL("/v2/logout", issuer).href, { client_id: clientId, returnTo });
  // https://docs.aws.amazon.com/cognito/latest/developerguide/logout-endpoint.html
  if (preset === "cognito")
    return withParameters(new URL("/logout", metadata.authorization_endpoint).href, { client_id: clientId, logout_uri: returnTo });
  const { end_session_endpoint: endpoint } = metadata;
  if (endpoint === undefined) return undefined;
  const parameters = { client_id: clientId, post_logout_redirect_uri: returnTo, state };
  if (idTokenHint === undefined) return withParameters(endpoint, parameters);
  const hinted = withParameters(endpoint, { id_token_hint: idTokenHint, ...parameters });
  return hinted.length > MAX_LENGTH ? withParameters(endpoint, parameters) : hinted;
}
