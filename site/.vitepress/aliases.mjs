/** How often a word is added, because a page that is about something says so often. */
const COPIES = 4;

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
  "about/evidence.md": {
    "": ["audit", "security audit", "penetration test", "certification"],
  },
  "about/not-supported.md": {
    "": [
      "DPoP",
      "mTLS",
      "FAPI",
      "SAML",
      "LDAP",
      "limitations",
      "JAR",
      "CIBA",
      "impersonate",
      "admin UI",
    ],
  },
  "about/other-callers.md": {
    "": [
      "M2M",
      "machine to machine",
      "service account",
      "client credentials",
      "API key",
      "JWT validation",
      "check access token in API",
    ],
    "mobile-and-desktop-apps": ["iOS", "Android", "native app", "Electron", "React Native"],
  },
  "about/project.md": {
    "": ["license", "MIT", "maintainers", "provenance", "SBOM", "funding"],
    "if-development-stops": ["abandoned", "unmaintained"],
  },
  "about/questions.md": {
    "can-support-staff-act-as-a-user-impersonation": ["impersonate", "act as", "log in as user"],
    "is-there-an-admin-ui": ["admin panel", "admin console", "user management"],
    "is-it-certified-for-soc-2-hipaa-or-fips": ["compliance", "ISO 27001"],
    "who-stands-behind-it-and-what-does-that-mean-for-a-company": [
      "abandoned",
      "unmaintained",
      "bus factor",
    ],
    "what-if-a-user-signs-in-in-two-tabs-at-once": ["multiple tabs"],
  },
  "about/rfc-10017.md": {
    "": ["bff", "backend for frontend", "browser-based apps"],
  },
  "about/roadmap.md": {
    "": ["planned features", "upcoming"],
  },
  "about/support.md": {
    "": ["upgrade", "upgrading", "semver", "LTS", "deprecation"],
    "updating-while-users-are-signed-in": ["upgrade"],
    typescript: ["moduleResolution"],
  },
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
  "deploy/forward-auth.md": {
    "": ["auth_request", "forward_auth", "ForwardAuth", "oauth2-proxy", "protect any application"],
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
      "CloudFront",
      "Fastly",
      "Front Door",
      "Application Gateway",
      "rate limit",
    ],
    nginx: ["rate limit", "brute force", "throttle"],
  },
  "deploy/serverless.md": {
    "": [
      "Lambda",
      "Vercel",
      "Netlify",
      "Cloud Run",
      "Cloudflare Workers",
      "edge",
      "cold start",
      "AWS",
      "Azure Functions",
      "preview deployment",
    ],
  },
  "deploy/sizing.md": {
    "": ["memory usage", "Redis memory", "capacity", "pricing"],
    "what-does-a-process-need": ["connection pool", "RAM"],
    "how-many-requests-does-the-store-get": ["autoscaling", "how many processes"],
  },
  "deploy/store-operation.md": {
    "": [
      "garbage collection",
      "expired sessions",
      "disaster recovery",
      "dump",
      "backup",
      "restore",
      "cleanup",
    ],
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
  "explanation/failures.md": {
    "": [
      "high availability",
      "outage",
      "failover",
      "resilience",
      "Redis down",
      "provider down",
      "database down",
      "provider outage",
      "unavailable",
      "503",
    ],
  },
  "explanation/guarantees.md": {
    "": [
      "concurrent refresh",
      "race condition",
      "refresh token rotation",
      "reuse detection",
      "concurrency",
    ],
  },
  "explanation/performance.md": {
    "": ["benchmark", "latency", "throughput", "overhead", "requests per second"],
  },
  "explanation/security.md": {
    "": ["security audit", "pentest", "threats", "token storage"],
  },
  "how-to/access-logs.md": {
    "": ["request log", "pino", "morgan", "log the user", "redact", "logging", "logs", "winston"],
  },
  "how-to/audit-log.md": {
    "": ["audit trail", "compliance", "GDPR", "login history", "personal data"],
  },
  "how-to/authorization.md": {
    "": ["roles", "RBAC", "permissions", "groups", "access control"],
  },
  "how-to/call-an-api.md": {
    "": ["access token", "downstream API", "audience", "on behalf of"],
  },
  "how-to/csrf.md": {
    "": ["CSRF", "CORS", "XSRF", "csurf", "CSRF token"],
  },
  "how-to/fetch-frameworks.md": {
    "": ["Remix", "Nuxt", "SolidStart", "Elysia"],
  },
  "how-to/keys.md": {
    "": ["private_key_jwt", "client assertion", "certificate", "JWKS"],
  },
  "how-to/live-connections.md": {
    "": ["SSE", "server-sent events", "EventSource", "socket.io", "ws"],
  },
  "how-to/login-parameters.md": {
    "": ["acr_values", "prompt", "ui_locales", "authorization parameters"],
  },
  "how-to/nextjs.md": {
    "": ["nextjs", "app router", "server actions", "middleware"],
  },
  "how-to/operations.md": {
    "": ["metrics", "Prometheus", "Grafana", "observability"],
  },
  "how-to/production.md": {
    "": ["production", "checklist", "go live", "hardening"],
  },
  "how-to/proxy.md": {
    "": ["API gateway", "http-proxy-middleware", "BFF proxy"],
  },
  "how-to/pushed-requests.md": {
    "": ["PAR", "pushed authorization requests", "RFC 9126"],
  },
  "how-to/react-vue-svelte.md": {
    "": ["Angular", "hooks", "useSession"],
  },
  "how-to/sessions.md": {
    "": [
      "session timeout",
      "session expires",
      "stay signed in",
      "remember me",
      "logged out after an hour",
      "autoscaling",
    ],
    "limits-of-session-host": ["express-session"],
    "run-several-processes": [
      "cluster",
      "load balancer",
      "sticky sessions",
      "horizontal scaling",
      "session lost",
    ],
  },
  "how-to/several-components.md": {
    "": ["multi-tenant"],
    "many-tenants": ["multi-tenant", "multitenancy", "multi-tenancy", "tenancy", "SaaS"],
  },
  "how-to/several-providers.md": {
    "": ["multi-tenant", "multiple providers", "social login", "multiple issuers"],
  },
  "how-to/several-services.md": {
    "": ["SSO", "single sign-on", "microservices", "gateway", "subdomains"],
  },
  "how-to/signing-out.md": {
    "": [
      "log out",
      "logout",
      "single sign-out",
      "SLO",
      "log out everywhere",
      "logout everywhere",
      "sign out everywhere",
      "backchannel logout",
    ],
    "end-sessions-from-your-code": [
      "log out everywhere",
      "revoke sessions",
      "kick user",
      "list sessions",
    ],
    "lock-a-user-out-now": [
      "block user",
      "disable user",
      "ban user",
      "suspend account",
      "deactivate",
    ],
  },
  "how-to/single-page-applications.md": {
    "": ["SPA", "front end", "frontend", "axios"],
  },
  "how-to/step-up.md": {
    "": ["MFA", "2FA", "multi-factor", "step up", "acr_values", "max_age", "reauthenticate"],
  },
  "how-to/stores.md": {
    "": ["custom store", "DynamoDB", "MongoDB", "MySQL"],
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
  "how-to/testing.md": {
    "": [
      "Cypress",
      "Playwright",
      "supertest",
      "Jest",
      "mock user",
      "fake user",
      "e2e",
      "end-to-end",
      "CI",
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
  "how-to/upgrades-and-keys.md": {
    "": [
      "key rotation",
      "rotate secret",
      "zero downtime",
      "SIGTERM",
      "secret leaked",
      "vault",
      "KMS secret",
      "secrets manager",
      "incident response",
      "upgrade",
      "deployment",
      "rolling update",
    ],
  },
  "how-to/user-table.md": {
    "": ["user database", "local users", "Prisma", "account linking"],
  },
  "how-to/users-and-claims.md": {
    "": ["custom claims", "profile", "userinfo", "email", "user info"],
  },
  "how-to/write-an-api.md": {
    "": [
      "check access token",
      "verify JWT in API",
      "verify access token",
      "introspection",
      "resource server",
      "JWKS",
      "protect an API",
    ],
  },
  "how-to/your-pages.md": {
    "": ["branding", "theme", "custom error page", "translation", "localization", "i18n"],
  },
  "migrate/auth-js.md": {
    "": ["next-auth", "NextAuth"],
  },
  "providers/entra-id.md": {
    "": ["Azure", "Azure AD", "Active Directory", "Microsoft 365"],
  },
  "providers/generic.md": {
    "": ["OneLogin", "Ping", "ADFS", "FusionAuth", "Logto", "Apple", "GitHub"],
  },
  "providers/self-hosted.md": {
    "": ["Authelia", "Kanidm", "Dex"],
  },
  "reference/accessors.md": {
    "the-accessors": ["get_credentials", "check_idp_authentication", "revoke_idp_token"],
    "the-guard": ["idp_required", "decorator", "login required"],
    "": ["getCredentials", "getSession", "requireSession"],
  },
  "reference/compatibility.md": {
    "": [
      "supported versions",
      "requirements",
      "Node version",
      "browser support",
      "peer dependencies",
      "TypeScript",
      "Bun",
      "Deno",
    ],
  },
  "reference/errors.md": {
    "": ["error codes", "login loop", "state mismatch", "redirect_uri_mismatch"],
  },
  "reference/events.md": {
    "": [
      "PII",
      "GDPR",
      "data protection",
      "log fields",
      "event types",
      "logging",
      "logs",
      "personal data",
    ],
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
  "reference/personal-data.md": {
    "": ["GDPR", "personal data", "PII", "privacy", "data protection", "right to erasure", "DSGVO"],
    cookies: ["cookie banner", "cookie consent", "cookie list", "ePrivacy"],
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
  "reference/threat-model.md": {
    "": ["white paper", "whitepaper", "STRIDE", "threat modelling", "pentest", "attack surface"],
  },
  "start/nextjs.md": {
    "": ["nextjs", "next"],
  },
  "start/single-page-application.md": {
    "": ["SPA", "front end", "frontend"],
  },
  "tutorial/staff-only.md": {
    "": ["intranet", "internal tool"],
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
    return text.replace(
      heading,
      (found) => `${found}${`<p>${words.join(". ")}.</p>`.repeat(COPIES)}`,
    );
  }, html);
}
