import { checkTable } from "../config/check-table.js";
import { checksFrom } from "../config/findings.js";

/**
 * THE table of the checks that only `idpauth check --live` and `auth.checkProvider` run. A code is never renamed and never
 * used again for another check.
 */
export const LIVE_CHECKS = checkTable(
  {
    E101: {
      cause: ({ label }) =>
        `The provider at ${label("issuer")}, or one of its endpoints that a sign-in needs, doesn't respond.`,
      remedy:
        "Check the address, and the DNS, firewalls and proxies between this machine and the provider. Then check the provider's health.",
    },
    E102: {
      cause: ({ label }) =>
        `The TLS certificate of ${label("issuer")}, or of an endpoint that a sign-in needs, can't be verified.`,
      remedy:
        "Have the certificate corrected. If your own certificate authority issued it, set NODE_EXTRA_CA_CERTS to that authority's certificate, " +
        "for the application as well. Never turn verification off.",
    },
    E103: {
      cause: ({ label }) =>
        `The address ${label("issuer")} + \`/.well-known/openid-configuration\` doesn't return a discovery document.`,
      remedy: ({ env }) =>
        `Set ${env("issuer")} to the provider's issuer identifier. With the correct value, this address returns the discovery document.`,
    },
    E104: {
      cause: ({ label }) =>
        `The issuer in the discovery document differs from ${label("issuer")}. Both must be exactly equal.`,
      remedy: ({ env }) => `Set ${env("issuer")} to the issuer in the discovery document.`,
    },
    E105: {
      cause:
        "The discovery document doesn't contain an endpoint that a sign-in needs, or the endpoint's address can't be used.",
      remedy: "Have the provider advertise the endpoint with an https address.",
    },
    E106: {
      cause:
        "The response types or grant types in the discovery document don't include the authorization code flow.",
      remedy: "Turn on the authorization code flow (response type `code`) at the provider.",
    },
    E107: {
      cause:
        "The discovery document doesn't advertise an asymmetric signature algorithm for ID tokens.",
      remedy: "Have the provider sign ID tokens with RS256 or another asymmetric algorithm.",
    },
    E108: {
      cause:
        "The key set at the provider's jwks_uri can't be fetched, or doesn't contain a key that can verify ID tokens.",
      remedy:
        "Check the provider's key set. It must contain a public signing key for an algorithm in the discovery document.",
    },
    E109: {
      cause: ({ label }) =>
        `The token endpoint refuses ${label("clientId")} with ${label("clientSecret")}.`,
      remedy: ({ env }) =>
        `Compare both values with the client's registration at the provider, and look for spaces at either end. If both are correct, set ${env("tokenEndpointAuthMethod")} to the registered method: \`client_secret_post\` or \`client_secret_basic\`.`,
    },
    E110: {
      cause:
        "The provider's clock and this machine's clock differ so much that ID tokens are refused or expire too early.",
      remedy:
        "Synchronize this machine's clock (NTP). If it is correct, the provider's clock is wrong.",
    },
    E111: {
      cause: "The store in --store can't be opened, or doesn't respond.",
      remedy:
        "Check the store's address, its health, and the permissions of its user. docs/reference/databases.md describes each store.",
    },
    E112: {
      cause: "The store in --store doesn't meet a requirement of session stores.",
      remedy:
        "Test the store with `testStore` of idpauth-conformance. Its report names each requirement and the reason for it.",
    },
    // E113 is retired: idpauth pushes the requests of providers that require it.
    E114: {
      cause: ({ label }) =>
        `The discovery document sets \`require_signed_request_object\` (JAR, RFC 9101), or ${label("signedRequests")} is \`always\`, but ${label("privateKey")} isn't set, so idpauth can't sign requests, and nobody can sign in.`,
      remedy: ({ env }) =>
        `Set ${env("privateKey")}, and register its public half at the provider.`,
    },
    E115: {
      cause:
        "Logins are pushed (PAR, RFC 9126), but the discovery document contains no usable endpoint for them, so nobody can sign in.",
      remedy: ({ env }) =>
        `If the provider has an endpoint that it doesn't advertise, add it to ${env("providerMetadata")}. Otherwise, remove ${env("pushedRequests")}.`,
    },
    E116: {
      cause:
        "The provider redirects every login back with an error about the client or its scopes, so nobody can sign in.",
      remedy: ({ label }) =>
        `Compare ${label("scope")} and the client's registration at the provider with the error. Some providers refuse scopes that they don't advertise, ` +
        "for example `offline_access`, although they send refresh tokens without it.",
    },
    E117: {
      cause:
        "The provider comes from a source, and one of its addresses isn't public, or doesn't use https with port 443 or a port above 1023.",
      remedy:
        "Use the provider's public https address. If the provider is in your own network, set its option `allowPrivateNetwork`. If it is on this machine, for development or tests, list its host in the source's `internalHosts`.",
    },
    E118: {
      cause: ({ label }) =>
        `${label("fapi")} is 2, but the discovery document doesn't meet the FAPI 2.0 Security Profile's requirements for providers, so nobody can sign in.`,
      remedy: ({ env }) =>
        `At the provider, turn on what the message names, or remove ${env("fapi")}.`,
    },
    E119: {
      cause: ({ label }) =>
        `${label("responseMode")} is \`jwt\`, but the provider doesn't advertise any algorithm for signed responses that idpauth accepts (\`authorization_signing_alg_values_supported\`), so nobody can sign in.`,
      remedy:
        "Have the provider sign this client's responses with an asymmetric algorithm, such as PS256 or ES256.",
    },
    W101: {
      cause: "The discovery document doesn't contain an optional endpoint that idpauth would use.",
      remedy: "If you don't need the feature that the message names, ignore this warning.",
    },
    W102: {
      cause: ({ label }) =>
        `${label("scope")} contains scopes that the discovery document doesn't advertise.`,
      remedy:
        "Check the scopes' spelling. The provider might support scopes that it doesn't advertise, or it might refuse the login.",
    },
    W103: {
      cause: ({ label }) =>
        `${label("sessionAutoRefresh")} is on, but the discovery document doesn't advertise refresh tokens. Some providers send them without advertising them. ` +
        "Without a refresh token, a session ends when its ID token expires.",
      remedy: ({ env }) =>
        "Sign in once. If the provider sends a refresh token, idpauth logs `refresh_token_given`, and you can ignore this warning. " +
        `Otherwise, allow refresh tokens for this client at the provider, or set ${env("sessionAutoRefresh")} to false.`,
    },
    W104: {
      cause:
        "The discovery document doesn't advertise PKCE with S256 (RFC 7636), so the provider might ignore the code challenge.",
      remedy:
        "Turn PKCE on for this client at the provider. Some providers support PKCE without advertising it. The nonce protects the code in any case.",
    },
    W105: {
      cause: ({ label }) =>
        `The discovery document doesn't advertise the method in ${label("tokenEndpointAuthMethod")}.`,
      remedy: ({ env }) =>
        `Set ${env("tokenEndpointAuthMethod")} to a method that the provider advertises and the client's registration allows.`,
    },
    W106: {
      cause: ({ label }) =>
        `The provider's clock and this machine's clock differ by more than ${label("clockTolerance")}.`,
      remedy:
        "Synchronize this machine's clock (NTP). If it is correct, the provider's clock is wrong.",
    },
    W107: {
      cause: "The authorization endpoint doesn't redirect to the application's redirect URI.",
      remedy: "Register exactly this redirect URI at the provider, for this client ID.",
    },
    W108: {
      cause: "The token endpoint's response doesn't show whether the provider accepts the client.",
      remedy: "Sign in to your application once. If that works, the provider accepts the client.",
    },
    W110: {
      cause:
        "The authorization endpoint redirects to the application with an error about the request, or it doesn't work.",
      remedy: ({ label }) =>
        `Compare ${label("scope")} and the client's registration at the provider with the error.`,
    },
    W111: {
      cause:
        "There is no file at the path in --store. The check doesn't create the file, so it didn't test the store.",
      remedy:
        "Check the path. If it is correct, start the application once, which creates the file, and run the check again.",
    },
    W113: {
      cause: ({ label }) =>
        `${label("logoutAtProvider")}, ${label("backchannelLogout")} or ${label("frontchannelLogout")} is on, but the discovery document doesn't advertise that logout.`,
      remedy:
        "Turn the setting off, or turn the logout on at the provider. If your provider supports more than its discovery document lists, as Entra ID does, " +
        "ignore this warning.",
    },
    W114: {
      cause: ({ label }) =>
        `${label("dpop")} is on or ${label("clientCertificate")} is set, but the discovery document doesn't advertise tokens that are bound in this way.`,
      remedy:
        "Sign in once. If the provider binds tokens without advertising it, ignore this warning. Otherwise, turn on bound tokens at the provider, or remove the setting.",
    },
    W115: {
      cause: ({ label }) =>
        `${label("responseMode")} is \`jwt\`, but the discovery document doesn't list it in \`response_modes_supported\`.`,
      remedy: ({ env }) =>
        `Sign in once. If that works, ignore this warning. Otherwise, turn signed responses (JARM) on at the provider, or remove ${env("responseMode")}.`,
    },
  },
  "live",
);

export const liveCheck = checksFrom(LIVE_CHECKS);
