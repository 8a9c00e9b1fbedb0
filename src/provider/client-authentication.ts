import { ClientSecretPost, type ClientAuth } from "oauth4webapi";
import type { SettingNames } from "../config/setting-names.js";
import type { ProviderSettings } from "../config/setting-table.js";
import {
  ASSERTION_TYPE,
  createClientAssertions,
  type AuthenticatedClient,
} from "./client-assertion.js";
import type { Authenticate } from "./provider-connection.js";
import type { ProviderMetadata } from "./provider-metadata.js";

/**
 * Returns how a client authenticates: with the key (RFC 7523), or with the secret (RFC 6749 section
 * 2.3.1).
 */
export function createClientAuthentication(client: AuthenticatedClient): Authenticate {
  const { clientId, clientSecret, tokenEndpointAuthMethod, privateKey } = client.settings;
  if (privateKey !== null) {
    const assertions = createClientAssertions(client);
    return (endpoint, connection, signal) => async (server, _client, body) => {
      body.set("client_id", clientId);
      body.set("client_assertion_type", ASSERTION_TYPE);
      const metadata = server as ProviderMetadata;
      body.set("client_assertion", await assertions({ endpoint, metadata, signal }, connection));
    };
  }
  const pair = `${formEncoded(clientId)}:${formEncoded(clientSecret)}`;
  const credentials = Buffer.from(pair).toString("base64");
  const byPost = ClientSecretPost(clientSecret);
  const byBasic: ClientAuth = (...[, , , headers]) => {
    headers.set("authorization", `Basic ${credentials}`);
  };
  return (endpoint) =>
    (server, ...request) => {
      const listed =
        endpoint === server.revocation_endpoint &&
        server.revocation_endpoint_auth_methods_supported;
      const method = listed ? methodOf(listed, tokenEndpointAuthMethod) : tokenEndpointAuthMethod;
      return (method === "client_secret_post" ? byPost : byBasic)(server, ...request);
    };
}

/**
 * Returns how a secret is sent to an endpoint that lists its own methods (RFC 8414 section 2): the
 * token endpoint's method, unless only the other one is listed.
 */
function methodOf(
  listed: readonly string[],
  set: ProviderSettings["tokenEndpointAuthMethod"],
): ProviderSettings["tokenEndpointAuthMethod"] {
  const other = set === "client_secret_post" ? "client_secret_basic" : "client_secret_post";
  return !listed.includes(set) && listed.includes(other) ? other : set;
}

const IN_WORDS = {
  client_secret_post: "`client_secret_post` (in the request body)",
  client_secret_basic:
    "`client_secret_basic` (in the Authorization header, encoded as application/x-www-form-urlencoded)",
};

/** Describes the configured method for a log line or a finding. */
export function authenticationInWords(
  { tokenEndpointAuthMethod, privateKey }: ProviderSettings,
  { env }: SettingNames,
): string {
  if (privateKey !== null)
    return `\`private_key_jwt\` (an assertion signed with ${env("privateKey")})`;
  return IN_WORDS[tokenEndpointAuthMethod];
}

/** Names the settings that a refused client must check. */
export function credentialsInWords(
  { privateKey }: ProviderSettings,
  { env }: SettingNames,
): string {
  return privateKey === null
    ? `${env("clientId")}, ${env("clientSecret")} and ${env("tokenEndpointAuthMethod")}`
    : `${env("clientId")}, and whether the provider knows the public half of ${env("privateKey")}. Check ${env("clientAssertionAudience")}`;
}

/**
 * Encodes as application/x-www-form-urlencoded (URL standard): letters, digits and `*-._` stay
 * unchanged. oauth4webapi's encodes `-`. A space is `%20`: everybody decodes it, but Authlib
 * doesn't decode `+`.
 */
function formEncoded(text: string): string {
  return new URLSearchParams([["", text]]).toString().slice(1).replaceAll("+", "%20");
}
