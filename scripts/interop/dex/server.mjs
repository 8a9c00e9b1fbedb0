// Dex's release for `npm run interop -- dex`, with SQLite and its password database. It reads clients
// and users from its configuration, so each new client restarts it.
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { eventually } from "../application/tab.mjs";
import { goProgram } from "../go-program.mjs";
import { freePort, startProgram } from "../processes.mjs";
import { PASSWORD_HASH, signInAtProvider } from "./pages.mjs";
import { steps } from "./steps.mjs";
import { USERS } from "./users.mjs";

/**
 * @typedef {object} DexSettings
 * @property {string} [reuseInterval] how long a refresh token can be used again; default: as long as
 *   idpauth may need to repeat a refresh
 *
 * @typedef {import("../servers.mjs").ClientWish & { id?: string, secret?: string }} ClientWish
 */

/** The release whose commit go.mod pins: Go doesn't know it by this name. */
const VERSION = "2.45.1";
/** Life of ID and access tokens. */
const TOKEN_SECONDS = 6;
const REUSE_INTERVAL = "60s";
/** Life of a signing key; Dex's default is six hours. */
const KEY_SECONDS = 25;

const dex = goProgram({
  name: "dex",
  title: `Dex ${VERSION}`,
  folder: import.meta.dirname,
  module: "github.com/dexidp/dex/cmd/dex",
  flags: [`-ldflags=-s -w -X main.version=v${VERSION}`],
});

/** @type {import("../servers.mjs").Server} */
export default {
  key: "dex",
  title: "Dex",
  version: VERSION,
  notes:
    "This release has no sessions, no logout and no revocation endpoint. It runs with `reuseInterval: 60s`, except where the row says otherwise.",
  missing: dex.missing,
  start,
  steps,
};

/** @param {string} folder */
async function start(folder) {
  const command = await dex.binary();
  const host = `localhost:${await freePort()}`;
  const metrics = `localhost:${await freePort()}`;
  const issuer = `http://${host}/dex`;
  const file = path.join(folder, "dex.json");
  /** @type {object[]} */
  const clients = [];
  let users = USERS;
  let counted = 0;
  const serve = async (/** @type {DexSettings} */ { reuseInterval = REUSE_INTERVAL }) => {
    const configuration = {
      issuer,
      storage: { type: "sqlite3", config: { file: path.join(folder, "dex.sqlite") } },
      web: { http: host },
      telemetry: { http: metrics },
      expiry: {
        idTokens: `${TOKEN_SECONDS}s`,
        signingKeys: `${KEY_SECONDS}s`,
        refreshTokens: { reuseInterval },
      },
      enablePasswordDB: true,
      staticPasswords: users.map((user) => ({ ...user, hash: PASSWORD_HASH })),
      staticClients: clients,
    };
    writeFileSync(file, JSON.stringify(configuration));
    const ready = /listening on.*server=http /;
    const started = await startProgram({ command, args: ["serve", file], ready });
    // Dex writes that line before it listens.
    await eventually(() => answers(`${issuer}/.well-known/openid-configuration`));
    return started;
  };
  console.log(`Start: Dex at ${issuer}`);
  let program = await serve({});
  /** @type {DexSettings} */
  let current = {};
  const stop = async () => {
    counted += await tokenRequests(metrics);
    await program.end();
  };
  const start = async (/** @type {DexSettings} */ settings) => {
    current = settings;
    program = await serve(settings);
  };
  const restart = async (/** @type {DexSettings} */ settings = {}) => {
    await stop();
    await start(settings);
  };
  return {
    version: VERSION,
    issuer,
    async newClient(/** @type {ClientWish} */ wish) {
      const { origin, method = "client_secret_post" } = wish;
      const { id = randomBytes(6).toString("hex") } = wish;
      const { secret = randomBytes(24).toString("base64url") } = wish;
      const name = `The application at ${origin}`;
      clients.push({ id, secret, name, redirectURIs: [`${origin}/idpauth/login-callback`] });
      await restart(current);
      return {
        IDP_ISSUER: issuer,
        IDP_CLIENT_ID: id,
        IDP_CLIENT_SECRET: secret,
        IDP_TOKEN_ENDPOINT_AUTH_METHOD: method,
        SCOPE: "openid email profile groups offline_access",
      };
    },
    signInAtProvider,
    tokenRequests: async () => counted + (await tokenRequests(metrics)),
    stop,
    start: () => start({}),
    restart,
    /** @param {string} user */
    async removeUser(user) {
      users = USERS.filter(({ userID }) => userID !== user);
      await restart(current);
    },
    async restoreUsers() {
      users = USERS;
      await restart(current);
    },
    keySeconds: KEY_SECONDS,
    end: () => program.end(),
  };
}

/**
 * @param {string} url
 * @returns {Promise<boolean>}
 */
function answers(url) {
  return fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
}

/**
 * Dex's metrics don't tell the grant: between two readings without a sign-in, all are refreshes.
 *
 * @param {string} host
 * @returns {Promise<number>} requests of this process
 */
async function tokenRequests(host) {
  const answer = await fetch(`http://${host}/metrics`);
  const lines = (await answer.text()).match(/^http_requests_total\{.*handler="\/token".*$/gm) ?? [];
  return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}
