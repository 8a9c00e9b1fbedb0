// Dex with sessions for `npm run interop -- dex-sessions`: its server with SQLite and its password
// database, and the admin interface that main.go adds.
import { randomBytes } from "node:crypto";
import path from "node:path";
import { goProgram, pinnedVersion } from "../go-program.mjs";
import { freePort, startProgram } from "../processes.mjs";
import { PASSWORD, signInAtProvider } from "../dex/pages.mjs";
import { USERS } from "../dex/users.mjs";
import { steps } from "./steps.mjs";

/**
 * @typedef {import("../servers.mjs").ClientWish & { id?: string, secret?: string, refreshTokenLifetime?: "standalone" | "session" }} ClientWish
 *
 * @typedef {object} DexSettings
 * @property {string} [reuseInterval] how long a refresh token can be used again; default: as long as
 *   idpauth may need to repeat a refresh
 * @property {boolean} [newSigningKey] whether it replaces its signing key when it starts
 */

/** Life of ID and access tokens. */
const TOKEN_SECONDS = 6;
const REUSE_INTERVAL = "60s";
/** Such as 0.0.0-20260806151424-ab64ed778070. */
const [, date = "", commit = ""] =
  /-(\d{8})\d{6}-(\w{8})/.exec(pinnedVersion(import.meta.dirname, "github.com/dexidp/dex")) ?? [];
const VERSION = `${date}-${commit}`;
const dex = goProgram({
  name: "dex-sessions",
  title: `Dex ${VERSION}`,
  folder: import.meta.dirname,
});

/** @type {import("../servers.mjs").Server} */
export default {
  key: "dex-sessions",
  title: "Dex",
  version: VERSION,
  notes:
    "A commit of Dex's main branch with sessions on, which release 2.45.1 doesn't have, nor any logout. Dex has no revocation endpoint and no front-channel logout. It runs with `reuseInterval: 60s`, except where the row says otherwise.",
  missing: dex.missing,
  start,
  steps,
};

/** @param {string} folder */
async function start(folder) {
  const command = await dex.binary();
  const host = `localhost:${await freePort()}`;
  const issuer = `http://${host}/dex`;
  const serve = (/** @type {DexSettings} */ settings) => {
    const all = {
      listen: host,
      issuer,
      database: path.join(folder, "dex.sqlite"),
      tokenSeconds: TOKEN_SECONDS,
      reuseInterval: REUSE_INTERVAL,
      users: USERS.map((user) => ({ ...user, password: PASSWORD })),
      ...settings,
    };
    return startProgram({ command, args: [JSON.stringify(all)], ready: /^Ready$/m });
  };
  const admin = async (/** @type {string} */ where, /** @type {RequestInit} */ init = {}) => {
    const answer = await fetch(`http://${host}/admin/${where}`, init);
    if (!answer.ok)
      throw new Error(`/admin/${where}: status ${answer.status}: ${await answer.text()}`);
    return answer.text();
  };
  console.log(`Start: Dex at ${issuer}`);
  let program = await serve({});
  const stop = () => program.end();
  return {
    version: VERSION,
    issuer,
    newClient: (/** @type {ClientWish} */ wish) => newClient(wish, { issuer, admin }),
    signInAtProvider,
    tokenRequests: async () => Number(await admin("refreshes")),
    stop,
    /** @param {DexSettings} [settings] others than those of {@link serve} */
    restart: async (settings = {}) => {
      await stop();
      program = await serve(settings);
    },
    /** @param {{ client: string, user: string }} of */
    revokeTokens: ({ client, user }) => admin(`tokens/${client}/${user}`, { method: "DELETE" }),
    /** @param {string} user */
    removeUser: (user) => admin(`users/${user}@example.com`, { method: "DELETE" }),
    restoreUsers: () => admin("users", { method: "POST" }),
    end: stop,
  };
}

/**
 * @param {ClientWish} wish
 * @param {{ issuer: string, admin: (where: string, init?: RequestInit) => Promise<string> }} server
 * @returns {Promise<Record<string, string>>}
 */
async function newClient(wish, { issuer, admin }) {
  const { origin, method = "client_secret_post", refreshTokenLifetime } = wish;
  const { id = randomBytes(6).toString("hex") } = wish;
  const { secret = randomBytes(24).toString("base64url") } = wish;
  const client = {
    id,
    secret,
    name: `The application at ${origin}`,
    redirectURIs: [`${origin}/idpauth/login-callback`],
    postLogoutRedirectURIs: [`${origin}/idpauth/logout-callback`],
    backchannelLogoutURI: `${origin}/idpauth/backchannel-logout`,
    refreshTokenLifetime,
  };
  await admin("clients", { method: "POST", body: JSON.stringify(client) });
  return {
    IDP_ISSUER: issuer,
    IDP_CLIENT_ID: id,
    IDP_CLIENT_SECRET: secret,
    IDP_TOKEN_ENDPOINT_AUTH_METHOD: method,
    SCOPE: "openid email profile groups offline_access",
  };
}
