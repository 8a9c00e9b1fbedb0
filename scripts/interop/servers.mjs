// The servers that `npm run interop` knows, and what each of them is asked for.

/**
 * @typedef {object} Server
 * @property {string} key what `npm run interop -- KEY` takes
 * @property {string} title
 * @property {string} version the one that is run
 * @property {() => Promise<string | undefined>} missing why it can't run on this machine, and how to
 *   get what is missing; downloads nothing
 * @property {(folder: string) => Promise<RunningServer>} start in a temporary folder, on free ports
 * @property {readonly Step[]} steps in order
 * @property {(stage: Stage) => Promise<undefined>} [pictures] takes those of its page
 * @property {string} [notes] how it was set up, as Markdown
 *
 * @typedef {Omit<Server, "start" | "steps"> & { run: OwnRun }} ServerWithOwnRun runs by itself, with
 *   neither Chromium nor a folder
 * @typedef {(isChosen: (choice: { key: string }) => boolean) => Promise<{ version: string, steps: import("./run-steps.mjs").StepResult[] }>} OwnRun
 *
 * @typedef {object} RunningServer
 * @property {string} version as it tells it itself, if it does
 * @property {string} issuer
 * @property {(client: ClientWish) => Promise<Record<string, string>>} newClient registers a client by
 *   the server's own admin interface; gives the settings of an application
 * @property {(page: import("playwright-core").Page, user?: string) => Promise<void>} signInAtProvider
 *   uses the server's own pages, consent included, until the browser has left them
 * @property {() => Promise<number>} tokenRequests refreshes that it has had, by its own record
 * @property {() => Promise<void>} end
 *
 * @typedef {object} ClientWish
 * @property {string} origin of the application
 * @property {"client_secret_post" | "client_secret_basic" | "private_key_jwt"} [method]
 *
 * @typedef {object} Step
 * @property {string} key
 * @property {string} title one sentence: what is true if the result is `good`
 * @property {(stage: Stage) => Promise<string | undefined>} run undefined is `good`; otherwise in a
 *   few words what happened instead
 * @property {string} [expected] another result, and in `reason` why
 * @property {string} [reason]
 *
 * @typedef {object} Stage
 * @property {any} server the running one, with what its own steps need beside {@link RunningServer}
 * @property {string} folder
 * @property {import("playwright-core").Browser} browser
 * @property {(options: import("./application/start.mjs").ApplicationOptions, use: (application: import("./application/start.mjs").RunningApplication) => Promise<string | undefined | void>) => Promise<string | undefined>} withApplication
 */

/** @type {readonly { key: string, load: () => Promise<{ default: Server | ServerWithOwnRun }> }[]} */
export const SERVERS = [
  { key: "keycloak", load: () => import("./keycloak/server.mjs") },
  { key: "keycloak-24", load: () => import("./keycloak/server-24.mjs") },
  { key: "keycloak-saml", load: () => import("./keycloak/server-saml.mjs") },
  { key: "hydra", load: () => import("./hydra/server.mjs") },
  { key: "dex", load: () => import("./dex/server.mjs") },
  { key: "dex-sessions", load: () => import("./dex-sessions/server.mjs") },
  { key: "zitadel", load: () => import("./zitadel-oidc/server.mjs") },
  { key: "python", load: () => import("./canaille/server.mjs") },
  { key: "django-oauth-toolkit", load: () => import("./django/toolkit.mjs") },
  { key: "django-oidc-provider", load: () => import("./django/oidc-provider.mjs") },
  { key: "lemonldap-ng", load: () => import("./lemonldap-ng/server.mjs") },
  { key: "spring", load: () => import("./spring/server.mjs") },
  { key: "glewlwyd", load: () => import("./glewlwyd/server.mjs") },
  { key: "oidc-provider", load: async () => ({ default: (await npmServers()).oidcProvider }) },
  { key: "better-auth", load: async () => ({ default: (await npmServers()).betterAuth }) },
];

function npmServers() {
  return import("./npm/servers.mjs");
}
