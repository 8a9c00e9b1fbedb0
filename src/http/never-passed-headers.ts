/**
 * The headers that the proxy never passes on, whatever the options of an API list. Their names are
 * in lower case, and `*` stands for any text. A comment names a product that uses the header, if it
 * isn't in a standard of HTTP.
 */

/** Headers of one connection, which no proxy passes on (RFC 9110 section 7.6.1). */
const CONNECTION = [
  "proxy-*",
  "connection",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "http2-settings",
];

/**
 * Headers that an API never gets from a browser: those of the connection, the credentials, and
 * those that the proxy sends itself.
 */
export const NEVER_SENT = anyOf([
  ...CONNECTION,
  ":*", // HTTP/2
  "host",
  "content-length",
  "expect",
  "cookie",
  "cookie2", // RFC 2965
  "authorization",
  "dpop", // RFC 9449
  "forwarded",
  "x-forwarded*", // reverse proxies of all kinds
  "x-idpauth*",
]);

/** Headers by which servers learn of a user who has signed in to the proxy in front of them. */
const IDENTITY = [
  "remote-*", // Authelia; CGI's REMOTE_USER
  "x-remote-*", // Kubernetes
  "auth-type", // CGI
  "auth-user", // IIS
  "x-auth-request-*", // oauth2-proxy
  "gap-auth", // oauth2-proxy
  "x-auth-user*", // OpenStack Swift
  "x-authenticated-*", // Kong
  "x-consumer*", // Kong, Apache APISIX
  "x-anonymous-consumer*", // Kong
  "x-credential-*", // Kong, Apache APISIX
  "x-access-token", // Apache APISIX
  "x-id-token", // Apache APISIX
  "x-userinfo", // Apache APISIX
  "x-webauth-*", // Grafana, Gitea
  "x-jwt-*", // WSO2
  "oidc-*", // mod_auth_openidc
  "x-oidc-*", // mod_auth_openidc with a prefix
  "shib-*", // Shibboleth
  "impersonate-*", // Kubernetes
  "sm-user*", // SiteMinder
  "smuser*", // SiteMinder
  "iv-*", // IBM Verify Identity Access (WebSEAL)
  "oam-*", // Oracle Access Manager
  "x-ms-client-principal*", // Azure App Service
  "x-ms-token*", // Azure App Service
  "x-goog-authenticated-user-*", // Google Cloud Identity-Aware Proxy
  "x-goog-iap-*", // Google Cloud Identity-Aware Proxy
  "x-amzn-oidc-*", // AWS Application Load Balancer
  "cf-access-*", // Cloudflare Access
  "x-authentik-*", // authentik
  "x-vouch-*", // Vouch Proxy
  "x-pomerium-*", // Pomerium
  "x-spiffe-*", // proxies that use SPIFFE
  "tailscale-*", // Tailscale Serve
  "x-envoy-*", // Envoy
  "x-original-host", // Azure Application Gateway
  "x-original-forwarded*", // ingress-nginx
  // What the configurations of many reverse proxies name by themselves.
  "x-user",
  "x-user-*",
  "x-username",
  "x-email",
  "x-group",
  "x-groups",
  "x-role",
  "x-roles",
  "x-saml-*",
];

/** Headers by which they learn of a client's certificate. */
const CERTIFICATE = [
  "*client-cert*", // RFC 9440; Envoy's X-Forwarded-Client-Cert
  "*clientcert*", // Azure App Service's X-ARR-ClientCert
  "*ssl-client*", // ingress-nginx, mod_ssl
  "*tls-client*", // Traefik's X-Forwarded-Tls-Client-Cert
  "x-amzn-mtls-*", // AWS Application Load Balancer
  "ssl-*", // mod_ssl
  // What the configurations of HAProxy, nginx and others name by themselves.
  "x-ssl-*",
  "x-tls-*",
  "x-client-verify",
  "x-client-dn",
  "x-client-s-dn",
  "x-client-i-dn",
  "x-client-subject*",
  "x-client-issuer*",
  "x-client-serial*",
  "x-client-fingerprint",
  "x-cert*",
  "x-peer-cert*",
];

/** Headers that an API never gets from a browser, even if its `requestHeaders` lists them. */
export const NEVER_FROM_BROWSER = anyOf([...IDENTITY, ...CERTIFICATE], {
  except: "x-user-agent", // gRPC-Web: the client's program, not its user
});

/**
 * Headers by which an application tells the server or the CDN in front of it to send a file, to ask
 * another server, to keep the response, or to stop using the application.
 */
const COMMANDS = [
  "x-accel-*", // nginx
  "x-sendfile*", // mod_xsendfile, lighttpd
  "x-send-file*", // lighttpd
  "x-lighttpd-*", // lighttpd
  "x-litespeed-*", // LiteSpeed
  "x-reproxy-*", // Perlbal
  "x-appengine-*", // Google App Engine
  "fly-replay*", // Fly.io
  "x-envoy-*", // Envoy
  "x-middleware-*", // Next.js
  "surrogate-control", // Fastly, Varnish
  "edge-control", // Akamai
  "*cdn-cache-control", // RFC 9213; Cloudflare, Vercel
];

/**
 * Headers that a browser never gets from an API: those of the connection, and commands that concern
 * the whole origin or the servers in front.
 */
export const NEVER_RETURNED = anyOf([
  ...CONNECTION,
  ...COMMANDS,
  "set-cookie",
  "set-cookie2", // RFC 2965
  "dpop-nonce", // RFC 9449
  "clear-site-data",
  "service-worker-allowed",
  "x-idpauth*",
]);

/** Returns an expression that fits each of the names, but not the exception. */
function anyOf(names: readonly string[], { except = "" } = {}): RegExp {
  const patterns = names.map((name) => name.replaceAll("*", ".*"));
  return new RegExp(`^(?!${except}$)(?:${patterns.join("|")})$`);
}
