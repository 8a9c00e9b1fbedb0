/**
 * The headers that the proxy never passes on, whatever the options of an API list. Their names are
 * in lower case.
 */

/**
 * Headers that an API never gets from a browser: those of the connection, the credentials, and
 * those that the proxy sends itself.
 */
export const NEVER_SENT =
  /^(?::.*|proxy-.*|connection|keep-alive|te|trailer|transfer-encoding|upgrade|http2-settings|host|content-length|expect|cookie2?|authorization|forwarded|x-forwarded.*|x-idpauth.*)$/;

/** Headers by which servers learn of a user who has signed in to the proxy in front of them. */
const IDENTITY =
  "(?:x-)?remote-.*|auth-(?:user|type)|x-auth-(?:request-.*|user.*)|x-authenticated-.*|x-webauth-.*|x-(?:anonymous-)?consumer.*|x-credential-.*|x-user(?:name|info)?|x-user-(?!agent$).*|x-(?:email|groups?|roles?)|x-(?:access|id)-token|x-jwt-.*|(?:x-)?oidc-.*|x-saml-.*|shib-.*|impersonate-.*|sm-?user.*|iv-.*|oam-.*|x-ms-(?:client-principal|token).*|x-goog-(?:authenticated-user|iap)-.*|x-amzn-oidc-.*|cf-access-.*|x-(?:authentik|vouch|pomerium|spiffe)-.*|tailscale-.*|x-envoy-.*|x-original-(?:host|forwarded.*)|gap-auth";

/** Headers by which they learn of a client's certificate. */
const CERTIFICATE =
  ".*client-?cert.*|.*ssl-client.*|.*tls-client.*|(?:x-)?ssl-.*|x-tls-.*|x-client-(?:verify|dn|[si]-dn|subject.*|issuer.*|serial.*|fingerprint)|x-amzn-mtls-.*|x-(?:peer-)?cert.*";

/** Headers that an API never gets from a browser, even if its `requestHeaders` lists them. */
export const NEVER_FROM_BROWSER = new RegExp(`^(?:${IDENTITY}|${CERTIFICATE})$`);

/**
 * Headers by which an application tells the server or the CDN in front of it to send a file, to ask
 * another server, to keep the response, or to stop using the application.
 */
const COMMANDS =
  "x-accel-.*|x-send-?file.*|x-lighttpd-.*|x-litespeed-.*|x-reproxy-.*|x-appengine-.*|fly-replay.*|x-envoy-.*|x-middleware-.*|surrogate-control|edge-control|.*cdn-cache-control";

/**
 * Headers that a browser never gets from an API: those of the connection, and commands that concern
 * the whole origin or the servers in front.
 */
export const NEVER_RETURNED = new RegExp(
  `^(?:proxy-.*|connection|keep-alive|te|trailer|transfer-encoding|upgrade|http2-settings|set-cookie2?|clear-site-data|service-worker-allowed|x-idpauth.*|${COMMANDS})$`,
);
