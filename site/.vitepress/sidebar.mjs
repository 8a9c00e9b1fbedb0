/** The tree of the site. Each page of docs/ that users read stands in it once; test/site checks it. */
export const sidebar = [
  {
    text: "Start",
    items: [
      { text: "Express", link: "/start/express" },
      { text: "Fastify", link: "/start/fastify" },
      { text: "Hono", link: "/start/hono" },
      { text: "Koa and node", link: "/start/koa-and-node" },
      { text: "Next.js", link: "/start/nextjs" },
      { text: "NestJS", link: "/start/nestjs" },
      { text: "Bun, Deno, h3", link: "/start/fetch" },
      { text: "Your own provider", link: "/how-to/your-provider" },
      { text: "Build a staff app", link: "/tutorial/staff-only" },
      { text: "Your first test", link: "/tutorial/first-test" },
    ],
  },
  {
    text: "Frameworks",
    items: [
      { text: "Mount idpauth", link: "/how-to/mounting" },
      { text: "Guard routes", link: "/how-to/guarding" },
      { text: "Several providers", link: "/how-to/several-components" },
      { text: "Next.js", link: "/how-to/nextjs" },
      { text: "NestJS", link: "/how-to/nestjs" },
      { text: "SvelteKit, Astro, Bun, Deno …", link: "/how-to/fetch-frameworks" },
      { text: "Single-page applications", link: "/how-to/single-page-applications" },
      { text: "React, Vue, Svelte", link: "/how-to/react-vue-svelte" },
    ],
  },
  {
    text: "Guides",
    items: [
      { text: "Users and claims", link: "/how-to/users-and-claims" },
      { text: "Authorization", link: "/how-to/authorization" },
      { text: "User table", link: "/how-to/user-table" },
      { text: "Login parameters", link: "/how-to/login-parameters" },
      { text: "Step-up", link: "/how-to/step-up" },
      { text: "Signing out", link: "/how-to/signing-out" },
      { text: "Live connections", link: "/how-to/live-connections" },
      { text: "CSRF", link: "/how-to/csrf" },
      { text: "Your pages", link: "/how-to/your-pages" },
      { text: "Testing", link: "/how-to/testing" },
    ],
  },
  {
    text: "Providers",
    items: [
      { text: "All providers", link: "/how-to/providers" },
      { text: "Google", link: "/providers/google" },
      { text: "Microsoft Entra ID", link: "/providers/entra-id" },
      { text: "Keycloak", link: "/providers/keycloak" },
      { text: "Auth0", link: "/providers/auth0" },
      { text: "Okta", link: "/providers/okta" },
      { text: "Amazon Cognito", link: "/providers/cognito" },
      { text: "authentik, Zitadel, GitLab", link: "/providers/self-hosted" },
      { text: "Any OpenID provider", link: "/providers/generic" },
    ],
  },
  {
    text: "Deploy and operate",
    items: [
      { text: "Production checklist", link: "/how-to/production" },
      { text: "Sessions and stores", link: "/how-to/sessions" },
      { text: "Several processes", link: "/how-to/scaling" },
      { text: "Size, cleaning, backup", link: "/deploy/store-operation" },
      { text: "Platforms and proxies", link: "/deploy/platforms" },
      { text: "Behind a reverse proxy", link: "/how-to/reverse-proxies" },
      { text: "Monitoring", link: "/how-to/operations" },
      { text: "Troubleshooting", link: "/how-to/troubleshooting" },
      { text: "Check a configuration", link: "/reference/check-live" },
    ],
  },
  {
    text: "Reference",
    items: [
      { text: "Settings", link: "/reference/settings" },
      { text: "Errors", link: "/reference/errors" },
      { text: "Supported versions", link: "/reference/compatibility" },
      { text: "Functions and guard", link: "/reference/accessors" },
      { text: "HTTP endpoints", link: "/reference/endpoints" },
      { text: "Browser client", link: "/reference/client" },
      { text: "React", link: "/reference/react" },
      { text: "Texts of the pages", link: "/reference/page-texts" },
      { text: "Development provider", link: "/reference/provider" },
      { text: "Versions and support", link: "/reference/support" },
    ],
  },
  {
    text: "Explain",
    items: [
      { text: "Guarantees", link: "/explanation/guarantees" },
      { text: "Security", link: "/explanation/security" },
      { text: "What idpauth doesn't do", link: "/about/not-supported" },
      { text: "The project", link: "/about/project" },
    ],
  },
  {
    text: "Extend",
    items: [
      { text: "Your own store", link: "/how-to/stores" },
      { text: "Your own adapter", link: "/how-to/adapters" },
    ],
  },
  {
    text: "API",
    items: [
      { text: "idpauth", link: "/api/" },
      ...["express", "fastify", "hono", "koa", "node", "fetch", "next", "redis", "postgres", "sqlite", "client", "react", "testing"].map(
        (entry) => ({ text: `idpauth/${entry}`, link: `/api/${entry}` }),
      ),
    ],
  },
];
