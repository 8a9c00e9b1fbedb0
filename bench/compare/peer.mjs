// What `npm run compare` knows about a peer: each folder in bench/peers/ has a peer.mjs that exports
// one.

/**
 * @typedef {object} StartOptions
 * @property {number} port on which the last process of the application listens
 * @property {string} origin that browsers use; another port than `port`
 * @property {string} issuer
 * @property {string} clientId
 * @property {string} clientSecret
 * @property {string} redisUrl of a Redis that both processes of an application share
 * @property {string} [postgresUrl] of a database that both share, if the peer needs it
 * @property {string} apiUrl of the API that /orders calls with the access token
 * @property {number} refreshSeconds the interval of a peer that refreshes at a fixed one
 * @property {string} folder temporary, of this process alone
 * @property {string} sharedFolder temporary, of both processes of an application
 * @property {() => Promise<number>} freePort
 *
 * @typedef {object} Program
 * @property {string} command
 * @property {readonly string[]} args
 * @property {Record<string, string>} [env] in addition to PATH and HOME
 * @property {string} [cwd]
 * @property {number} port on which it listens when it is ready
 *
 * @typedef {object} Paths
 * @property {string} login
 * @property {string} logout
 * @property {string} [probe] where a page asks who is signed in
 * @property {string} [backchannelLogout] if the peer has it
 *
 * @typedef {import("idpauth/testing").CookieBrowser} CookieBrowser
 * @typedef {import("idpauth/testing").BrowserResponse} BrowserResponse
 *
 * @typedef {object} Peer
 * @property {string} title
 * @property {string} framework that `bare` runs, with its major version
 * @property {(context: { say: (text: string) => void }) => Promise<string | undefined>} prepare
 *   installs what the peer needs; returns why it can't run on this machine
 * @property {() => string | Promise<string>} version read from what is installed
 * @property {(options: StartOptions) => readonly Program[] | Promise<readonly Program[]>} start the
 *   processes of one instance of the application, in the order of their start
 * @property {(options: StartOptions) => readonly Program[] | Promise<readonly Program[]>} bare the
 *   same framework without sign-in: GET /page, and GET /session with the probe's JSON
 * @property {Paths} paths
 * @property {(browser: CookieBrowser) => Promise<unknown>} [signIn] default: follows `paths.login`
 * @property {(browser: CookieBrowser) => Promise<BrowserResponse>} [begin] begins a login and
 *   returns the redirect to the provider; default: navigates to `paths.login`
 * @property {(browser: CookieBrowser) => Promise<unknown>} [signOut] default: follows
 *   `paths.logout`
 * @property {readonly "postgres"[]} [needs] a server in addition to Redis
 * @property {string} store where sessions are; "memory" can't be shared by two processes
 * @property {readonly string[]} [imports] the modules that an application imports for the sign-in;
 *   not for programs that are not written in JavaScript
 * @property {() => Promise<{ bytes: number, packages?: number, unit?: string }>} size of what the peer adds to the
 *   bare framework
 * @property {readonly { url: string, read: string, decided: string }[]} links of the documentation
 *   that its application follows
 * @property {readonly string[]} notes as Markdown
 */

/** The peers, in the order of the tables. */
export const NAMES = [
  "idpauth",
  "express-openid-connect",
  "passport-openid-client",
  "auth-js-express",
  "better-auth",
  "hono-oidc-auth",
  "oauth2-proxy",
  "mod-auth-openidc",
];

/** @param {string} name @returns {Promise<Peer>} */
export async function peerOf(name) {
  if (!NAMES.includes(name))
    throw new Error(`There is no peer "${name}". The peers are ${NAMES.join(", ")}.`);
  return (await import(new URL(`../peers/${name}/peer.mjs`, import.meta.url).href)).peer;
}
