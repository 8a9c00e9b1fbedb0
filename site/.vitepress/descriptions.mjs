/**
 * What a page is about, where its first sentence doesn't say so to somebody who hasn't opened it: in
 * search engines and in llms.txt.
 *
 * @type {Readonly<Record<string, string>>}
 */
export const DESCRIPTIONS = {
  "about/compare.md":
    "idpauth next to express-openid-connect, Passport, Auth.js, better-auth, oauth2-proxy and hosted products: the race, logout, frameworks, maturity.",
  "about/evidence.md":
    "What was tested and measured, with the results: guarantees, providers, frameworks, runtimes, stores, browsers, performance and security requirements.",
  "about/index.md":
    "Where to read what decides whether idpauth fits: comparison, guarantees, limits, evidence, security, license and support.",
  "about/not-supported.md":
    "What idpauth can't do, which standards it doesn't support, and what to use instead.",
  "about/other-callers.md":
    "Callers without a browser: bearer tokens on the same routes, cron jobs, services, command lines, mobile and desktop apps.",
  "about/project.md":
    "The project's status, license and dependencies, how to verify a release, and what happens if development stops.",
  "about/questions.md":
    "Answers to questions that come up before you choose idpauth, about users and browsers, and in operation.",
  "about/roadmap.md": "What is planned before version 1.0, what is open, and what isn't planned.",
  "about/standards.md":
    "idpauth checked against RFC 9700 and OWASP ASVS 5.0, row by row: what is met, and what your application has to do.",
  "about/support.md":
    "What a version may change, security fixes, deprecation, supported runtimes, TypeScript, and updating while users are signed in.",
  "deploy/index.md":
    "Where to read how to deploy, operate and monitor an application with idpauth.",
  "deploy/proxies.md":
    "Settings for nginx, Caddy, Apache, HAProxy, Traefik, AWS and Cloudflare in front of your app: forwarded headers, path prefixes and login limits.",
  "deploy/serverless.md":
    "idpauth on Cloud Run, AWS Lambda, Vercel and Netlify: cold starts, work after the response, and why edge runtimes aren't supported.",
  "deploy/sizing.md":
    "How much memory sessions take, how many requests the store gets, what a process needs, and what that costs.",
  "deploy/store-operation.md":
    "Expired sessions, backup and restore of a store, and moving sessions to another store.",
  "explanation/backend-for-frontend.md":
    "Why the server keeps the tokens of a single-page application, what that costs, and when you don't need it.",
  "explanation/guarantees.md":
    "The seven guarantees for concurrent requests, crashes, logouts and outages, their exceptions, and how they work.",
  "explanation/performance.md":
    "What a guarded request costs in time and store operations, many refreshes at once, and the size of the package.",
  "how-to/access-logs.md":
    "Log requests with the user's id, and keep authorization codes and other secrets out of the log.",
  "how-to/html-libraries.md":
    "Sign-in with htmx, Turbo and Unpoly, which fetch HTML in scripts, and links that a browser prefetches.",
  "how-to/keys.md":
    "Authenticate at the provider with a private key (`private_key_jwt`) instead of a client secret, and rotate the key.",
  "how-to/nestjs.md": "idpauth in NestJS: a guard, GraphQL and WebSocket gateways.",
  "how-to/nextjs.md":
    "Next.js beyond the first page: rules for pages, server actions, sign-outs in another tab, and differences from other frameworks.",
  "how-to/operations.md":
    "Monitor sign-ins: events, log lines, Prometheus, OpenTelemetry and alerts.",
  "how-to/react-vue-svelte.md":
    "Show who is signed in with React, Vue or Svelte, and warn users before their session ends.",
  "how-to/sessions.md":
    "Choose a session store (memory, SQLite, Redis, PostgreSQL), run several processes, and set session limits.",
  "how-to/several-services.md":
    "One sign-in for many services: a gateway, subdomains, logout across services, and keys.",
  "how-to/tenants.md":
    "Multi-tenant sign-in: look up each customer's OpenID provider in your database, ask for the work email address, keep customers apart.",
  "how-to/signing-out.md":
    "What a logout ends, and how to sign users out at the provider, on other devices, from your code, or when the provider asks.",
  "how-to/troubleshooting.md":
    "Causes and remedies by symptom: redirect loops, redirect_uri mismatch, cookies that aren't set, 401, 403, 503, CORS.",
  "how-to/users-and-claims.md":
    "Read the signed-in user and the provider's claims, check the claims with a schema, and decide what a browser may see.",
  "how-to/write-an-api.md":
    "Check access tokens in an API of your own: issuer, audience, scope, opaque tokens, and a recent sign-in.",
  "how-to/your-pages.md":
    "Change the name, logo, colors, languages and texts of idpauth's pages, or write a page yourself.",
  "migrate/auth-js.md":
    "Move an application from Auth.js (NextAuth) to idpauth: settings, calls, cookies and users' ids, step by step.",
  "migrate/better-auth.md":
    "Move an application from better-auth to idpauth: settings, calls, cookies and users' ids, step by step.",
  "migrate/index.md":
    "Move to idpauth while your old sign-in still runs: the steps, sessions during the change, and going back.",
  "migrate/oauth2-proxy.md":
    "Move an application from oauth2-proxy to idpauth: settings, headers, addresses and cookies.",
  "providers/apple.md":
    "Set up Sign in with Apple: the registration, the settings, names, email addresses and signing out.",
  "providers/auth0.md":
    "Set up Auth0: the registration, the settings, refresh tokens, roles, signing out and step-up.",
  "providers/generic.md":
    "What an OpenID provider has to support, and how to set up one that has no page of its own.",
  "providers/self-hosted.md":
    "Set up authentik, Zitadel, GitLab, Ory Hydra, Dex, LemonLDAP::NG, Spring Authorization Server and other self-hosted providers.",
  "reference/accessors.md":
    "Every function of `auth`, the functions of your application that idpauth calls, and the guard with its responses.",
  "reference/apis.md":
    "The options of `apis`, `getAccessToken` and `fetchApi`: audiences, scopes, expired tokens and errors.",
  "reference/check-live.md":
    "What `idpauth check --live` requests from your provider and your store, its options, and its result as JSON.",
  "reference/compatibility.md":
    "Supported and tested versions of Node.js, Bun, Deno, frameworks, databases and browsers.",
  "reference/databases.md":
    "Options and operation of the stores for memory, SQLite, Redis, Valkey and PostgreSQL, and several regions.",
  "reference/errors.md":
    "Every startup check, error, log line and reason code, with its cause and remedy.",
  "reference/index.md": "Where to look up settings, codes, functions, endpoints, events and types.",
  "reference/page-texts.md":
    "The texts of idpauth's pages in each language, which `pages.messages` replaces.",
  "reference/session-store.md": "The methods that a session store of your own implements.",
  "reference/settings.md":
    "Every setting in one table: its name in the environment and in code, its default, and the rules for values.",
  "reference/settings-application.md":
    "The origin, mount path, path prefix, trusted proxies, landing pages, and the limits of your own hooks and data.",
  "reference/settings-login.md":
    "Parameters of the authorization request: prompt, response mode, pushed requests, and those that users may pass.",
  "reference/settings-provider.md":
    "Issuer, client id, secret or key, scopes, tenants, several providers, and the timeout of requests to them.",
  "reference/settings-sessions.md":
    "The secret key, session limits, automatic refresh, sessions per user, and the names of cookies.",
  "reference/settings-sign-out.md":
    "Logout at the provider, back-channel and front-channel logout, the page of a user's devices, and event streams.",
  "reference/threat-model.md":
    "For security reviews: assets, actors, trust boundaries, threats with their defenses, cryptography and defaults.",
  "start/express.md": "Add sign-in to an Express app, from an empty folder to a guarded page.",
  "start/fastify.md": "Add sign-in to a Fastify app, from an empty folder to a guarded page.",
  "start/fetch.md": "Add sign-in to a server on Bun, Deno or h3, from an empty folder.",
  "start/hono.md": "Add sign-in to a Hono app, from an empty folder to a guarded page.",
  "start/index.md": "Choose your framework, and begin with an empty folder.",
  "start/koa-and-node.md":
    "Add sign-in to a Koa or node:http app, from an empty folder to a guarded page.",
  "start/nestjs.md": "Add sign-in to a NestJS app, from an empty folder to a guarded page.",
  "start/nextjs.md": "Add sign-in to a Next.js app, from an empty folder to a guarded page.",
  "start/single-page-application.md":
    "A React front end and an Express API that share one sign-in, without tokens in the browser.",
};
