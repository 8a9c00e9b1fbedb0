import { ClientSecretPost, type ClientAuth } from "oauth4webapi";
import type { ProviderSettings } from "./provider-settings.js";

/** Returns the client authentication for the token and revocation endpoints (RFC 6749 section 2.3.1). */
export function clientAuthentication({ clientId, clientSecret, tokenEndpointAuthMethod }: ProviderSettings): ClientAuth {
  if (tokenEndpointAuthMethod === "client_secret_post") return ClientSecretPost(clientSecret);
  const encode = tokenEndpointAuthMethod === "client_secret_basic" ? formEncoded : (text: string) => text;
  const credentials = Buffer.from(`${encode(clientId)}:${encode(clientSecret)}`).toString("base64");
  return (_server, _client, _body, headers) => {
    headers.set("authorization", `Basic ${credentials}`);
  };
}

const IN_WORDS = {
  client_secret_post: "`client_secret_post` (in the request body)",
  client_secret_basic: "`client_secret_basic` (in the Authorization header, encoded as application/x-www-form-urlencoded)",
  client_secret_basic_raw: "`client_secret_basic_raw` (in the Authorization header, not encoded)",
};

/** Describes the configured method for a log line or a finding. */
export function authenticationInWords({ tokenEndpointAuthMethod }: Pick<ProviderSettings, "tokenEndpointAuthMethod">): string {
  return IN_WORDS[tokenEndpointAuthMethod];
}

/** Encodes as application/x-www-form-urlencoded (URL standard): letters, digits and `*-._` stay unchanged. oauth4webapi's encodes `-`. */
function formEncoded(text: string): string {
  return new URLSearchParams([["", text]]).toString().slice(1);
}
