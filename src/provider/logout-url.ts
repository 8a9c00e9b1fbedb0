import { ownLogoutAddress, profileOf, type LogoutSettings } from "../config/provider-profiles.js";
import type { LogoutRequest } from "../ports/provider.js";
import { withParameters } from "./authorization-request.js";
import type { ProviderMetadata } from "./provider-metadata.js";

/**
 * Returns the address that ends the user's session at the provider (OpenID Connect RP-Initiated
 * Logout 1.0 section 2); undefined if the provider has none. A hint that makes the address too long
 * is left out: the ID token first, because the `logout_hint` is short. Pure.
 */
export function logoutUrl(
  settings: LogoutSettings & { readonly clientId: string },
  metadata: ProviderMetadata,
  { returnTo, state, hints }: LogoutRequest,
): string | undefined {
  const { issuer, clientId } = settings;
  const own = ownLogoutAddress(settings);
  if (own !== undefined) {
    const at = own.at === "issuer" ? issuer : metadata.authorization_endpoint;
    const parameters = { client_id: clientId, [own.returnParameter]: returnTo };
    return withParameters(new URL(own.path, at), parameters).href;
  }
  const { end_session_endpoint: endpoint } = metadata;
  if (endpoint === undefined) return undefined;
  const { maxUrlLength, claim } = profileOf(issuer, metadata).logoutHints;
  const hint = claim === undefined ? undefined : hints?.claims[claim];
  const idToken = hints?.idToken && { id_token_hint: hints.idToken };
  const logoutHint = typeof hint === "string" && hint !== "" && { logout_hint: hint };
  const parameters = { client_id: clientId, post_logout_redirect_uri: returnTo, state };
  const addresses = [{ ...idToken, ...logoutHint }, { ...logoutHint }, {}].map(
    (given) => withParameters(endpoint, { ...given, ...parameters }).href,
  );
  return addresses.find(({ length }) => length <= maxUrlLength) ?? addresses.at(-1);
}
