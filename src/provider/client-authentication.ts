import { ClientSecretPost, TlsClientAuth, type ClientAuth } from "oauth4webapi";
import { authenticatesByTls } from "../config/check-certificates.js";
import type { SettingNames } from "../config/setting-names.js";
import type { ProviderSettings } from "../config/setting-table.js";
import { createAppleSecrets } from "./apple-secret.js";
import { ASSERTION_TYPE, clientAssertion } from "./client-assertion.js";
import {
  createClientSignatures,
  type ClientSignatures,
  type SigningClient,
} from "./client-signatures.js";
import type { Authenticate, ClientAuthentication } from "./provider-connection.js";
import type { ProviderMetadata } from "./provider-metadata.js";

/**
 * Returns how a client authenticates: with the key (RFC 7523), with the secret (RFC 6749 section
 * 2.3.1), with a secret that the key makes (Apple), or with the certificate that its connections
 * show (RFC 8705 section 2).
 */
export function createClientAuthentication(
  client: SigningClient,
  signatures: ClientSignatures = createClientSignatures(client),
): ClientAuthentication {
  const { clientId, clientSecret, tokenEndpointAuthMethod, privateKey, appleTeamId } =
    client.settings;
  if (appleTeamId !== null) {
    const makeSecret = createAppleSecrets(client.settings, client.clock);
    const authenticate: Authenticate =
      (_endpoint, _connection, signal) =>
      async (...request) => {
        await ClientSecretPost(await makeSecret(signal))(...request);
      };
    return { authenticate, assertReadyToSignIn: () => undefined };
  }
  if (authenticatesByTls(tokenEndpointAuthMethod))
    return { authenticate: () => TlsClientAuth(), assertReadyToSignIn: () => undefined };
  if (privateKey !== null) {
    const authenticate: Authenticate =
      (endpoint, connection, signal) => async (server, _client, body) => {
        body.set("client_id", clientId);
        body.set("client_assertion_type", ASSERTION_TYPE);
        const request = { endpoint, metadata: server as ProviderMetadata, signal };
        body.set("client_assertion", await clientAssertion(request, signatures, connection));
      };
    return { authenticate, assertReadyToSignIn: signatures.assertReadyToSignIn };
  }
  const pair = `${formEncoded(clientId)}:${formEncoded(clientSecret)}`;
  const credentials = Buffer.from(pair).toString("base64");
  const byPost = ClientSecretPost(clientSecret);
  const byBasic: ClientAuth = (...[, , , headers]) => {
    headers.set("authorization", `Basic ${credentials}`);
  };
  const authenticate: Authenticate =
    (endpoint) =>
    (server, ...request) => {
      const listed =
        endpoint === server.revocation_endpoint &&
        server.revocation_endpoint_auth_methods_supported;
      const method = listed ? methodOf(listed, tokenEndpointAuthMethod) : tokenEndpointAuthMethod;
      return (method === "client_secret_post" ? byPost : byBasic)(server, ...request);
    };
  return { authenticate, assertReadyToSignIn: () => undefined };
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
  tls_client_auth: "`tls_client_auth` (the certificate of its connection, known by its subject)",
  self_signed_tls_client_auth:
    "`self_signed_tls_client_auth` (the certificate of its connection, known by its key)",
};

/** Returns the method that the client is registered with (OpenID Connect Core section 9). */
export function authenticationMethod({
  tokenEndpointAuthMethod: method,
  privateKey,
  appleTeamId,
}: ProviderSettings): ProviderSettings["tokenEndpointAuthMethod"] | "private_key_jwt" {
  const isKey = privateKey !== null && appleTeamId === null && !authenticatesByTls(method);
  return isKey ? "private_key_jwt" : method;
}

/** Describes the configured method for a log line or a finding. */
export function authenticationInWords(
  { tokenEndpointAuthMethod, privateKey, appleTeamId }: ProviderSettings,
  { env }: SettingNames,
): string {
  if (appleTeamId !== null)
    return `a client secret for Apple (in the request body, signed with ${env("privateKey")})`;
  if (privateKey !== null && !authenticatesByTls(tokenEndpointAuthMethod))
    return `\`private_key_jwt\` (an assertion signed with ${env("privateKey")})`;
  return IN_WORDS[tokenEndpointAuthMethod];
}

/** Names the settings that a refused client must check. */
export function credentialsInWords(
  { privateKey, appleTeamId, tokenEndpointAuthMethod }: ProviderSettings,
  { env }: SettingNames,
): string {
  if (appleTeamId !== null)
    return `${env("clientId")}, ${env("appleTeamId")}, ${env("appleKeyId")} and ${env("privateKey")}`;
  if (authenticatesByTls(tokenEndpointAuthMethod))
    return `${env("clientId")}, and whether the provider knows the certificate in ${env("clientCertificate")}. Check ${env("tokenEndpointAuthMethod")}`;
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
