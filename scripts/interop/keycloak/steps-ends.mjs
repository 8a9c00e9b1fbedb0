// A session that Keycloak has ended by itself: the application ends its own no later than with the
// next refresh, and a user who may sign in again can.
import { seconds } from "../application/tab.mjs";
import { inOwnRealm } from "./own-realm.mjs";

/**
 * @typedef {object} End
 * @property {import("./keycloak.mjs").KeycloakServer} server
 * @property {string} user ada's id
 * @property {import("../application/start.mjs").RunningApplication} application
 *
 * @typedef {object} Ending
 * @property {string} key
 * @property {string} title
 * @property {(end: End) => Promise<void>} end what the admin does
 * @property {import("./realm.mjs").RealmWish} [realm]
 * @property {boolean} [all] whether it ends grace's session too
 * @property {boolean} [back] whether ada can sign in again; default true
 */

/** @type {readonly Ending[]} */
const ENDINGS = [
  {
    key: "session-ended-by-admin",
    title: "The admin ends one session in Keycloak's console",
    async end({ server, user }) {
      const { admin } = server.keycloak;
      const sessions = await admin.get(server.realm.path(`/users/${user}/sessions`));
      for (const { id } of sessions) await admin.delete(server.realm.path(`/sessions/${id}`));
    },
  },
  {
    key: "user-logged-out-by-admin",
    title: "The admin logs a user out of all sessions",
    end: ({ server, user }) => post(server, `/users/${user}/logout`),
  },
  {
    key: "all-logged-out-by-admin",
    title: "The admin logs out all users of the realm",
    end: ({ server }) => post(server, "/logout-all"),
    all: true,
  },
  {
    key: "not-before",
    title: "The admin sets the realm's not-before time to now, and pushes it",
    async end({ server }) {
      // It counts in whole seconds: tokens of this second stay valid.
      await seconds(1.1);
      const notBefore = Math.floor(Date.now() / 1000);
      await server.keycloak.admin.put(server.realm.path(""), { notBefore });
      await post(server, "/push-revocation");
    },
    all: true,
  },
  {
    key: "user-disabled",
    title: "The admin disables a user",
    end: ({ server, user }) =>
      server.keycloak.admin.put(server.realm.path(`/users/${user}`), { enabled: false }),
    back: false,
  },
  {
    key: "user-deleted",
    title: "The admin deletes a user",
    end: ({ server, user }) => server.keycloak.admin.delete(server.realm.path(`/users/${user}`)),
    back: false,
  },
  {
    key: "consent-revoked",
    title: "The admin revokes a user's consent to the application, and with it the refresh token",
    async end({ server, user, application }) {
      const client = application.env["IDP_CLIENT_ID"];
      await server.keycloak.admin.delete(
        server.realm.path(`/users/${user}/consents/${String(client)}`),
      );
    },
  },
  {
    key: "sso-idle",
    title: "Keycloak's session is idle for too long, while the application's own has no such limit",
    realm: { settings: { ssoSessionIdleTimeout: 10 } },
    end: () => seconds(12),
    all: true,
  },
  {
    key: "sso-maximum",
    title:
      "Keycloak's session reaches its maximum age, while the application's own has no such limit",
    realm: { settings: { ssoSessionMaxLifespan: 10 } },
    end: () => seconds(11),
    all: true,
  },
];

export const END_STEPS = ENDINGS.map((ending) => inOwnRealm(endStep(ending), ending.realm));

/**
 * @param {Ending} ending
 * @returns {import("../servers.mjs").Step}
 */
function endStep({ key, title, end, all = false, back = true }) {
  return {
    key,
    title: `${title}: the next refresh ends the session with 401${back ? ", and the user can sign in again" : ""}${all ? "" : "; another user stays signed in"}.`,
    run: (stage) =>
      stage.withApplication(CONSENT, async (application) => {
        const { newTab } = application;
        const [tab, other] = [await newTab(), await newTab()];
        await tab.signIn("ada");
        await other.signIn("grace");
        const user = await stage.server.realm.userId("ada");
        await end({ server: stage.server, user, application });
        await tab.untilExpired();
        const { status, body } = await tab.fetch("/api/session");
        if (status !== 401) return `status ${status} ${body?.code} after the next expiry`;
        await other.untilExpired();
        const { status: others } = await other.fetch("/api/session");
        if (others !== (all ? 401 : 200)) return `status ${others} for another user`;
        if (!back) return undefined;
        await tab.signIn("ada");
        const { status: again } = await tab.fetch("/api/session");
        return again === 200 ? undefined : `status ${again} after signing in again`;
      }),
  };
}

const CONSENT = { client: { settings: { consentRequired: true } } };

/**
 * @param {import("./keycloak.mjs").KeycloakServer} server
 * @param {string} path
 */
async function post({ keycloak, realm }, path) {
  await keycloak.admin.post(realm.path(path));
}
