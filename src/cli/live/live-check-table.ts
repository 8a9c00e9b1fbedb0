import { checkTable, findingsFrom } from "../../config/startup-checks.js";

/** THE table of the checks that only `idpauth check --live` runs. A code is never renamed and never used again for another check. */
export const LIVE_CHECKS = checkTable(
  {
    E101: {
      cause: "The provider at IDP_ISSUER (option issuer), or one of its endpoints that a sign-in needs, does not respond.",
      remedy:
        "Check the address, and the DNS, firewalls and proxies between this machine and the provider. Then check the provider's health.",
    },
    E102: {
      cause: "The TLS certificate of IDP_ISSUER (option issuer), or of an endpoint that a sign-in needs, cannot be verified.",
      remedy:
        "Have the certificate corrected. If your own certificate authority issued it, set NODE_EXTRA_CA_CERTS to that authority's certificate, " +
        "also for the application. Never turn verification off.",
    },
    E103: {
      cause: "The address IDP_ISSUER (option issuer) + `/.well-known/openid-configuration` returns no discovery document.",
      remedy: "Set IDP_ISSUER to the provider's issuer identifier. With the correct value, this address returns the discovery document.",
    },
    E104: {
      cause: "The issuer in the discovery document differs from IDP_ISSUER (option issuer). The two must be exactly equal.",
      remedy: "Set IDP_ISSUER to the issuer in the discovery document.",
    },
    E105: {
      cause: "The discovery document lacks an endpoint that a sign-in needs, or the endpoint's address cannot be used.",
      remedy: "Have the provider announce the endpoint with an https address.",
    },
    E106: {
      cause: "The response types or grant types in the discovery document do not include the authorization code flow.",
      remedy: "Turn on the authorization code flow (response type `code`) at the provider.",
    },
    E107: {
      cause: "The discovery document announces no asymmetric signature algorithm for ID tokens.",
      remedy: "Have the provider sign ID tokens with RS256 or another asymmetric algorithm.",
    },
    E108: {
      cause: "The key set at the provider's jwks_uri cannot be fetched, or it has no key that verifies ID tokens.",
      remedy: "Check the provider's key set. It must contain a public signing key for an algorithm in the discovery document.",
    },
    E109: {
      cause: "The token endpoint refuses IDP_CLIENT_ID (option clientId) with IDP_CLIENT_SECRET (option clientSecret).",
      remedy:
        "Compare both values with the client's registration at the provider, also for spaces at the ends. If both are correct, set " +
        "IDP_TOKEN_ENDPOINT_AUTH_METHOD to the registered method: `client_secret_post`, `client_secret_basic` or `client_secret_basic_raw`.",
    },
    E110: {
      cause: "The provider's clock and this machine's clock differ so much that ID tokens are refused or expire too early.",
      remedy: "Synchronise this machine's clock (NTP). If it is correct, the provider's clock is wrong.",
    },
    E111: {
      cause: "The store in --store cannot be opened, or does not respond.",
      remedy: "Check the store's address, its health, and the permissions of its user. docs/how-to/scaling.md describes each store.",
    },
    E112: {
      cause: "The store in --store does not meet a requirement of session stores.",
      remedy: "Test the store with `testStore` of idpauth/testing. Its report names each requirement and the reason for it.",
    },
    E113: {
      cause:
        "The discovery document sets `require_pushed_authorization_requests` (PAR, RFC 9126). idpauth does not send such requests, so " +
        "no user can sign in.",
      remedy: "Turn that requirement off at the provider, if possible for this client only.",
    },
    E114: {
      cause:
        "The discovery document sets `require_signed_request_object` (JAR, RFC 9101). idpauth does not sign authorization requests, so no user can sign in.",
      remedy: "Turn that requirement off at the provider, if possible for this client only.",
    },
    W101: {
      cause: "The discovery document lacks an endpoint that idpauth uses if it exists.",
      remedy: "If you do not need the function that the message names, ignore this warning.",
    },
    W102: {
      cause: "SCOPE (option scope) has scopes that the discovery document does not announce.",
      remedy: "Check the spelling of the scopes. The provider may support scopes that it does not announce, or it may refuse the login.",
    },
    W103: {
      cause:
        "IDP_SESSION_AUTO_REFRESH is on, but the discovery document does not announce refresh tokens. Some providers give one without announcing it. " +
        "Without a refresh token, a session ends when its ID token expires.",
      remedy:
        "Sign in once: if the provider gives a refresh token, the log takes this warning back (`refresh_token_given`), and in debug mode " +
        "`/idpauth/debug` shows it. Then ignore this warning. " +
        "Otherwise allow refresh tokens for this client at the provider, or set IDP_SESSION_AUTO_REFRESH to false.",
    },
    W104: {
      cause: "The discovery document does not announce PKCE with S256 (RFC 7636). The provider may ignore the code challenge.",
      remedy:
        "Turn PKCE on for this client at the provider. Some providers support PKCE without announcing it. The nonce always protects the code.",
    },
    W105: {
      cause: "The discovery document does not announce the method in IDP_TOKEN_ENDPOINT_AUTH_METHOD (option tokenEndpointAuthMethod).",
      remedy: "Set IDP_TOKEN_ENDPOINT_AUTH_METHOD to a method that the provider announces and the client's registration allows.",
    },
    W106: {
      cause: "The provider's clock and this machine's clock differ by more than IDP_CLOCK_TOLERANCE.",
      remedy: "Synchronise this machine's clock (NTP). If it is correct, the provider's clock is wrong.",
    },
    W107: {
      cause: "The authorization endpoint does not redirect to the application's redirect URI.",
      remedy: "Register exactly this redirect URI at the provider, for this client ID.",
    },
    W108: {
      cause: "The token endpoint's response does not show whether the provider accepts the client.",
      remedy: "Sign in to your application once. If that works, the provider accepts the client.",
    },
    W110: {
      cause: "The authorization endpoint redirects to the application with an error about the request, or it does not work.",
      remedy: "Compare SCOPE and the client's registration at the provider with the error.",
    },
    W111: {
      cause: "There is no file at the path in --store. The check does not create the file, so it did not test the store.",
      remedy: "Check the path. If it is correct, start the application once, which creates the file, and run the check again.",
    },
    W112: {
      cause:
        "The check could not remove an entry that it wrote into the store. The entry belongs to no session and expires within two minutes.",
      remedy: "If the store removes expired entries, ignore this warning.",
    },
    W113: {
      cause:
        "IDP_LOGOUT_AT_PROVIDER, IDP_BACKCHANNEL_LOGOUT or IDP_FRONTCHANNEL_LOGOUT is on, but the discovery document does not announce " +
        "that logout.",
      remedy:
        "Turn the setting off, or turn the logout on at the provider. If your provider does more than its document says, as Entra ID does, " +
        "ignore this warning.",
    },
  },
  "live",
);

export const liveCheck = findingsFrom(LIVE_CHECKS);
