import { ownLogoutAddress, type LogoutSettings } from "../config/provider-profiles.js";
import type { LogoutRequest } from "../ports/provider.js";
import { withParameters } from "./authorization-request.js";
import type { ProviderMetadata } from "./provider-metadata.js";

/** Servers refuse longer addresses, and the user would see their error page. */
const MAX_LOGOUT_URL_LENGTH = 4096;

/**
 * Returns the address that ends the user's session at the provider (OpenID Connect RP-Initiated
 * Logout 1.0 section 2); undefined if the provider has none. A hint that makes the address too long
 * is left out. Pure.
 */
export function logoutUrl(
  settings: LogoutSettings & { readonly clientId: string },
  metadata: ProviderMetadata,
  { returnTo, state, idTokenHint }: LogoutRequest,
): string | undefined {
  const { issuer, clientId } = settings;
  const address = (endpoint: string | URL, parameters: Readonly<Record<string, string>>) =>
    withParameters(endpoint, parameters).href;
  const own = ownLogoutAddress(settings);
  if (own !== undefined) {
    const at = own.at === "issuer" ? issuer : metadata.authorization_endpoint;
    const parameters = { client_id: clientId, [own.returnParameter]: returnTo };
    return address(new URL(own.path, at), parameters);
  }
  const { end_session_endpoint: endpoint } = metadata;
  if (endpoint === undefined) return undefined;
  const parameters = { client_id: clientId, post_logout_redirect_uri: returnTo, state };
  if (idTokenHint === undefined) return address(endpoint, parameters);
  const hinted = address(endpoint, { id_token_hint: idTokenHint, ...parameters });
  return hinted.length > MAX_LOGOUT_URL_LENGTH ? address(endpoint, parameters) : hinted;
}
