// Keycloak as `npm run interop` runs it, in one version or another.
import { signInAtKeycloak } from "./login-page.mjs";
import { missingForKeycloak } from "./install.mjs";
import { missingPostgres } from "./postgres.mjs";
import { newRealm } from "./realm.mjs";
import { startKeycloak } from "./start.mjs";

/**
 * What the steps of this folder get as `stage.server`. `issuer`, `newClient` and `tokenRequests` are
 * those of one realm; a step that changes its realm calls `newServer`.
 *
 * @typedef {Omit<import("../servers.mjs").RunningServer, "newClient"> & {
 *   newClient: import("./realm.mjs").Realm["newClient"],
 *   keycloak: import("./start.mjs").RunningKeycloak,
 *   realm: import("./realm.mjs").Realm,
 *   newServer: (wish?: import("./realm.mjs").RealmWish) => Promise<KeycloakServer>,
 * }} KeycloakServer
 */

/**
 * @param {Pick<import("../servers.mjs").Server, "key" | "version" | "steps"> & { homeVariable: string }} options
 *   `homeVariable`: the environment variable that names an installation to use instead
 * @returns {import("../servers.mjs").Server}
 */
export function keycloak({ key, version, homeVariable, steps }) {
  const wanted = { version, homeVariable };
  return {
    key,
    title: "Keycloak",
    version,
    missing: async () => (await missingForKeycloak(wanted)) ?? missingPostgres(),
    async start(folder) {
      const running = await startKeycloak({ ...wanted, folder });
      return serverOf(running).catch(async (/** @type {unknown} */ error) => {
        await running.end();
        throw error;
      });
    },
    steps,
  };
}

/**
 * The server with a new realm.
 *
 * @param {import("./start.mjs").RunningKeycloak} running
 * @param {import("./realm.mjs").RealmWish} [wish]
 * @returns {Promise<KeycloakServer>}
 */
export async function serverOf(running, wish) {
  const realm = await newRealm(running, wish);
  return {
    version: running.version,
    issuer: realm.issuer,
    newClient: realm.newClient,
    signInAtProvider: (page, user) => signInAtKeycloak(page, user === undefined ? {} : { user }),
    tokenRequests: realm.tokenRequests,
    end: running.end,
    keycloak: running,
    realm,
    newServer: (other) => serverOf(running, other),
  };
}
