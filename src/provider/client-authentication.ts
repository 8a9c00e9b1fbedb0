import { ClientSecretPost, type ClientAuth } from "oauth4webapi";
import type { ProviderSettings } from "./provider-settings.js";

type ClientSettings = Pick<ProviderSettings, "clientId" | "clientSecret" | "tokenEndpointAuthMethod">;

/** Returns the client authentication for the token and revocation endpoints (RFC 6749 section 2.3.1). */
export function clientAuthentication({ clientId, clientSecret, tokenEndpointAuthMethod }: ClientSettings): ClientAuth {
  if (tokenEndpointAuthMethod === "client_secret_post") return ClientSecretPost(clientSecret);
  const encode = tokenEndpointAuthMethod === "client_secret_basic" ? formEncoded : (text: string) => text;
  const credentials = Buffer.from(`${encode(clientId)}:${encode(clientSecret)}`).toString("base64");
  return (_server, _client, _body, headers) => {
    headers.set("authorization", `Basic ${credentials}`);
  };
}

/** Describes the configured method for a log line or a finding. */
export function authenticationInWords({ tokenEndpointAuthMethod: method }: Pick<ClientSettings, "tokenEndpointAuthMethod">): string {
  switch (method) {
    case "client_secret_post":
      return "`client_secret_post` (in the request body)";
    case "client_secret_basic":
      return "`client_secret_basic` (in the Authorization header, encoded as application/x-www-form-urlencoded)";
    case "client_secret_basic_raw":
      return "`client_secret_basic_raw` (in the Authorization header, not encoded)";
  }
}

/** Encodes as application/x-www-form-urlencoded (URL standard): letters, digits and `*-._` stay unchanged. oauth4webapi's encodes `-`. */
function formEncoded(text: string): string {
  return new URLSearchParams([["", text]]).toString().slice(1);
}
