/**
 * What people type into the search that a section's text does not contain, by page and by the
 * anchor of a heading. The search adds the words to the section, and no reader sees them. An empty
 * anchor is the page's title.
 *
 * @type {Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>}
 */
export const ALIASES = {
  "about/compare.md": {
    "": [
      "comparison",
      "vs",
      "versus",
      "alternatives",
      "passport",
      "auth0",
      "clerk",
      "better-auth",
      "auth.js",
      "next-auth",
      "NextAuth",
    ],
  },
  "how-to/troubleshooting.md": {
    "": ["login not working", "sign-in fails", "debugging", "FAQ"],
    "redirect_uri-mismatch": [
      "redirect_uri_mismatch",
      "invalid redirect uri",
      "AADSTS50011",
      "callback URL mismatch",
    ],
    "state-mismatch": [
      "login link is invalid",
      "invalid state",
      "state missing",
      "link expired",
      "CSRF state",
    ],
    "the-browser-redirects-in-a-loop": [
      "login loop",
      "redirect loop",
      "ERR_TOO_MANY_REDIRECTS",
      "infinite redirect",
    ],
    "cookie-not-set": [
      "cookie isn't set",
      "cookie missing",
      "cookie blocked",
      "SameSite",
      "third-party cookie",
      "iframe",
    ],
    "users-are-signed-out-after-an-hour": [
      "signed out after an hour",
      "logged out after an hour",
      "session expires after one hour",
      "random logout",
      "no refresh token",
    ],
    "signed-out-after-each-deploy": [
      "logged out after deploy",
      "logged out after restart",
      "sessions lost",
    ],
    invalid_grant: ["invalid grant", "code already used", "refresh token expired"],
    "503-provider_unavailable": [
      "provider unavailable",
      "ECONNREFUSED",
      "timeout",
      "service unavailable",
      "self-signed certificate",
    ],
    "503-provider_misconfigured": ["invalid_client", "wrong client secret", "issuer mismatch"],
    "every-sign-in-ends-with-sign_in_refused": [
      "clock skew",
      "ID token rejected",
      "token issued in the future",
    ],
    "it-works-on-localhost-but-not-behind-the-proxy": [
      "nginx",
      "reverse proxy",
      "load balancer",
      "http instead of https",
      "trust proxy",
    ],
    "401-although-the-user-is-signed-in": [
      "401 unauthorized",
      "probe",
      "not authenticated",
      "credentials include",
    ],
    "403-although-the-user-is-signed-in": ["403 forbidden", "access denied", "CSRF"],
    "blocked-by-cors-policy": ["CORS error", "Access-Control-Allow-Origin", "preflight"],
    "users-are-signed-in-again-without-a-password": [
      "logout does not work",
      "single logout",
      "still logged in",
    ],
    "back-channel-logout-doesnt-arrive": ["backchannel logout not working", "logout token"],
  },
  "how-to/sessions.md": {
    "": [
      "session timeout",
      "session expires",
      "stay signed in",
      "remember me",
      "logged out after an hour",
    ],
    "run-several-processes": [
      "cluster",
      "load balancer",
      "sticky sessions",
      "horizontal scaling",
      "session lost",
    ],
  },
  "how-to/signing-out.md": {
    "": ["log out", "logout", "single sign-out", "SLO"],
    "end-sessions-from-your-code": [
      "log out everywhere",
      "revoke sessions",
      "kick user",
      "list sessions",
    ],
  },
  "how-to/upgrades-and-keys.md": {
    "": [
      "key rotation",
      "rotate secret",
      "zero downtime",
      "SIGTERM",
      "secret leaked",
      "incident response",
    ],
  },
  "how-to/operations.md": {
    "": ["metrics", "Prometheus", "Grafana", "observability"],
  },
  "how-to/telemetry.md": {
    "": [
      "metrics",
      "tracing",
      "spans",
      "OTel",
      "traceparent",
      "Datadog",
      "Grafana",
      "observability",
    ],
  },
  "reference/events.md": { "": ["PII", "GDPR", "data protection", "log fields", "event types"] },
  "how-to/access-logs.md": { "": ["request log", "pino", "morgan", "log the user", "redact"] },
  "how-to/audit-log.md": { "": ["audit trail", "compliance", "GDPR", "login history"] },
  "deploy/containers.md": {
    "": [
      "Dockerfile",
      "docker compose",
      "k8s",
      "Ingress",
      "Gateway API",
      "Helm",
      "health check",
      "graceful shutdown",
      "liveness",
      "readiness",
    ],
  },
  "deploy/serverless.md": {
    "": ["Lambda", "Vercel", "Netlify", "Cloud Run", "Cloudflare Workers", "edge", "cold start"],
  },
  "deploy/proxies.md": {
    "": [
      "behind a reverse proxy",
      "ingress",
      "ALB",
      "ELB",
      "Apache httpd",
      "mod_proxy",
      "HAProxy",
      "CDN",
      "X-Forwarded-Host",
      "load balancer",
    ],
  },
  "deploy/forward-auth.md": {
    "": ["auth_request", "forward_auth", "ForwardAuth", "oauth2-proxy", "protect any application"],
  },
  "deploy/sizing.md": { "": ["memory usage", "Redis memory", "capacity", "pricing"] },
  "deploy/store-operation.md": {
    "": ["garbage collection", "expired sessions", "disaster recovery", "dump"],
  },
  "explanation/backend-for-frontend.md": {
    "": [
      "bff",
      "tokens in localStorage",
      "where to store tokens",
      "token-mediating backend",
      "XSS",
    ],
  },
  "about/rfc-10017.md": { "": ["bff", "backend for frontend", "browser-based apps"] },
  "reference/threat-model.md": {
    "": ["white paper", "whitepaper", "STRIDE", "threat modelling", "pentest", "attack surface"],
  },
  "reference/glossary.md": {
    "": [
      "terms",
      "definitions",
      "vocabulary",
      "acronyms",
      "CAS",
      "RP",
      "OP",
      "IdP",
      "relying party",
    ],
  },
  "explanation/performance.md": {
    "": ["benchmark", "latency", "throughput", "overhead", "requests per second"],
  },
  "explanation/failures.md": { "": ["high availability", "outage", "failover", "resilience"] },
  "reference/specification-names.md": {
    "": [
      "get_credentials",
      "idp_required",
      "getCredentials",
      "snake_case",
      "Python names",
      "mapping",
    ],
    "departures-from-its-letter": ["differences from the specification", "deviations"],
  },
  "reference/accessors.md": {
    "the-accessors": ["get_credentials", "check_idp_authentication", "revoke_idp_token"],
    "the-guard": ["idp_required", "decorator", "login required"],
  },
  "reference/errors.md": {
    "": ["error codes", "login loop", "state mismatch", "redirect_uri_mismatch"],
  },
  "reference/settings.md": {
    "": [
      "environment variables",
      "configuration",
      "SameSite",
      "cookie name",
      "CORS",
      "session timeout",
    ],
  },
  "reference/compatibility.md": {
    "": [
      "supported versions",
      "requirements",
      "Node version",
      "browser support",
      "peer dependencies",
    ],
  },
};

/**
 * Adds a page's words after the headings to which they belong.
 *
 * @param {string} html of the page
 * @param {string} page such as "how-to/sessions.md"
 * @param {typeof ALIASES} [aliases]
 * @returns {string}
 */
export function withAliases(html, page, aliases = ALIASES) {
  return Object.entries(aliases[page] ?? {}).reduce((text, [anchor, words]) => {
    const heading =
      anchor === ""
        ? /<h1[^>]*>.*?<\/h1>/s
        : new RegExp(`<h[2-6] id="${anchor}"[^>]*>.*?</h[2-6]>`, "s");
    if (!heading.test(text))
      throw new Error(`site/.vitepress/aliases.mjs: ${page} has no heading "${anchor}".`);
    return text.replace(heading, (found) => `${found}<p>${words.join(". ")}.</p>`);
  }, html);
}
