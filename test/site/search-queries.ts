/**
 * What a stranger types into the site's search, and the page that has to be among the first three
 * results. A second page is as good.
 */
export const QUERIES: readonly (readonly [query: string, ...pages: readonly string[]])[] = [
  ["what is idpauth", "index", "about/questions"],
  ["price", "about/instead-of-a-service", "about/project", "deploy/sizing"],
  ["contribute", "about/project", "contributing/index"],
  ["production ready", "how-to/production", "about/project"],
  ["is it audited", "about/project", "explanation/security"],
  ["session fixation", "explanation/security", "reference/threat-model"],
  ["several audiences", "reference/settings-login", "reference/apis", "how-to/write-an-api"],
  ["sign out everywhere", "how-to/signing-out"],
  ["403 after login", "how-to/troubleshooting"],
  ["login loop", "how-to/troubleshooting"],
  ["cookie too large", "how-to/troubleshooting", "how-to/sessions", "explanation/security"],
  ["axios", "how-to/http-clients"],
  ["htmx", "how-to/html-libraries"],
  ["clerk", "about/instead-of-a-service", "about/compare"],
  ["cookie tossing", "explanation/security", "reference/threat-model"],
  ["kubernetes", "deploy/containers"],
  ["docker", "deploy/containers"],
  ["rate limit", "deploy/proxies"],
  ["refresh token rotation", "explanation/guarantees"],
  ["log in with google", "providers/google"],
  ["bundle size", "explanation/performance", "about/support"],
  ["multi tenant", "how-to/several-providers", "how-to/several-components"],
  ["remember me", "how-to/sessions"],
  ["typescript version", "reference/compatibility", "about/support"],
  ["nextjs", "start/nextjs", "how-to/nextjs"],
  ["check acess token", "how-to/write-an-api"],
  ["IDP_SESSION_TTL", "reference/settings-sessions"],
];
