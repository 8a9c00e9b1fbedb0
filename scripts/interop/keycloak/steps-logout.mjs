// Ends of a session that begin with a user or an admin, and reach the other side.
import { eventually, openTab, seconds } from "../application/tab.mjs";
import { logoutAtProviderStep, logoutHereStep } from "../steps/logout.mjs";
import { confirmLogout } from "./login-page.mjs";
import { inOwnRealm } from "./own-realm.mjs";
import { startTlsFront } from "./tls-front.mjs";
import { asAda } from "../steps/as-ada.mjs";

/** Long enough that no refresh ends the session before Keycloak's message does. */
const LONG = { settings: { accessTokenLifespan: 300 } };
const OFFLINE = { SCOPE: "openid profile email offline_access" };

/**
 * @typedef {object} Ending
 * @property {string} key
 * @property {string} title
 * @property {(end: { server: import("./keycloak.mjs").KeycloakServer, page: import("playwright-core").Page }) => Promise<void>} end
 *   ada's session at Keycloak
 */

const BACK = /** @type {const} */ ({
  client: { logout: "back" },
  env: { IDP_BACKCHANNEL_LOGOUT: "on" },
});

/** @type {readonly Ending[]} */
const BACK_CHANNELS = [
  {
    key: "back-channel-by-user",
    title: "By back-channel: the user logs out at Keycloak",
    end: ({ server, page }) => logOutAtKeycloak(server, page),
  },
  {
    key: "back-channel-by-admin",
    title: "By back-channel: the admin logs the user out",
    async end({ server: { keycloak, realm } }) {
      await keycloak.admin.post(realm.path(`/users/${await realm.userId("ada")}/logout`));
    },
  },
];

export const BACK_CHANNEL_STEPS = BACK_CHANNELS.map((ending) =>
  inOwnRealm(backChannelStep(ending), LONG),
);

/** @type {readonly import("../servers.mjs").Step[]} */
export const LOGOUT_STEPS = [
  logoutHereStep(),
  logoutAtProviderStep(),
  ...BACK_CHANNEL_STEPS,
  inOwnRealm(frontChannelStep(), LONG),
  inOwnRealm(offlineLogoutStep()),
  inOwnRealm(offlineRevokedStep()),
  inOwnRealm(offlineOutlivesStep()),
  inOwnRealm(offlineBackChannelStep()),
];

/**
 * @param {Ending} ending
 * @returns {import("../servers.mjs").Step}
 */
function backChannelStep({ key, title, end }) {
  return {
    key,
    title: `${title}, and the application's session ends at once; another user stays signed in.`,
    run: (stage) =>
      stage.withApplication(BACK, async ({ newTab, log }) => {
        const [tab, other] = [await newTab(), await newTab()];
        await tab.signIn("ada");
        await other.signIn("grace");
        await end({ server: stage.server, page: tab.page });
        const isEnded = async () => (await tab.fetch("/api/session")).status === 401;
        await eventually(isEnded, 5).catch(() => undefined);
        if (!(await isEnded())) return `the session lives on: ${warnings(log())}`;
        const { status } = await other.fetch("/api/session");
        return status === 200 ? undefined : `status ${status} for the other user`;
      }),
  };
}

/**
 * Over https, since Keycloak's page lets no http frame in.
 *
 * @returns {import("../servers.mjs").Step}
 */
function frontChannelStep() {
  return {
    key: "front-channel",
    title:
      "By front-channel: the user logs out at Keycloak, and the application's session ends at once.",
    async run(stage) {
      const front = await startTlsFront();
      const { origin } = front;
      const client = { logout: "front", origin };
      const env = { IDP_FRONTCHANNEL_LOGOUT: "on", BASE_URL: origin };
      try {
        return await stage.withApplication({ client, env }, async (application) => {
          front.forwardTo(application.origin);
          const { page } = await openTab({ ...stage, origins: [origin] });
          await page.goto(`${origin}/guarded`);
          await stage.server.signInAtProvider(page);
          const signedIn = await probeInPage(page);
          if (signedIn.authenticated !== true) return "the sign-in fails";
          const other = await page.context().newPage();
          await logOutAtKeycloak(stage.server, other);
          await eventually(async () => (await probeInPage(page)).authenticated === false);
          const { reason } = await probeInPage(page);
          return reason === "logged_out_at_provider" ? undefined : `reason ${reason}`;
        });
      } finally {
        front.end();
      }
    },
  };
}

/**
 * @param {import("playwright-core").Page} page
 * @returns {Promise<any>}
 */
function probeInPage(page) {
  return page.evaluate(
    'fetch("/idpauth/session?details=true").then((response) => response.json())',
  );
}

/** @returns {import("../servers.mjs").Step} */
function offlineLogoutStep() {
  return {
    key: "offline-logout",
    title:
      "With `offline_access`, a logout in the application ends the offline session at Keycloak.",
    run: asAda({ env: OFFLINE }, async (tab, { env, origin }, stage) => {
      const sessions = () => offlineSessions(stage.server, env["IDP_CLIENT_ID"]);
      if ((await sessions()) !== 1) return `${await sessions()} offline sessions`;
      await tab.page.goto(`${origin}/idpauth/logout/`);
      const { status } = await tab.fetch("/api/session");
      if (status !== 401) return `status ${status} after the logout`;
      return (await sessions()) === 0 ? undefined : "Keycloak still has the offline session";
    }),
  };
}

/** @returns {import("../servers.mjs").Step} */
function offlineRevokedStep() {
  return {
    key: "offline-revoked",
    title:
      "With `offline_access`, the admin revokes the offline session: the next refresh ends the application's session with 401.",
    run: asAda({ env: OFFLINE }, async (tab, { env }, stage) => {
      const { keycloak, realm } = stage.server;
      const user = await realm.userId("ada");
      await keycloak.admin.delete(realm.path(`/users/${user}/consents/${env["IDP_CLIENT_ID"]}`));
      await tab.untilExpired();
      const { status } = await tab.fetch("/api/session");
      return status === 401 ? undefined : `status ${status} after the next expiry`;
    }),
  };
}

/** @returns {import("../servers.mjs").Step} */
function offlineOutlivesStep() {
  return {
    key: "offline-outlives",
    title:
      "With `offline_access` and no back-channel logout, the application's session lives on after the user has logged out at Keycloak, as the page says.",
    run: asAda({ env: OFFLINE }, async (tab, _application, stage) => {
      await logOutAtKeycloak(stage.server, tab.page);
      await tab.untilExpired();
      const { status } = await tab.fetch("/api/session");
      return status === 200 ? undefined : `status ${status} after the next expiry`;
    }),
  };
}

/** @returns {import("../servers.mjs").Step} */
function offlineBackChannelStep() {
  return {
    key: "offline-back-channel",
    title:
      "With `offline_access` and back-channel logout, the application's session ends when the user logs out at Keycloak.",
    expected: "the session lives on",
    reason:
      "Keycloak 26 doesn't send a logout token to an application that has only an offline session.",
    run: asAda({ ...BACK, env: { ...OFFLINE, ...BACK.env } }, async (tab, _application, stage) => {
      await logOutAtKeycloak(stage.server, tab.page);
      await seconds(2);
      const { status } = await tab.fetch("/api/session");
      return status === 401 ? undefined : "the session lives on";
    }),
  };
}

/**
 * @param {import("./keycloak.mjs").KeycloakServer} server
 * @param {import("playwright-core").Page} page
 */
async function logOutAtKeycloak({ issuer }, page) {
  await page.goto(`${issuer}/protocol/openid-connect/logout`);
  await confirmLogout(page);
  // The second one while the page loads the applications' frames.
  await page.getByRole("heading", { name: /You are logged out|Logging out/ }).waitFor();
}

/**
 * @param {import("./keycloak.mjs").KeycloakServer} server
 * @param {string | undefined} clientId
 * @returns {Promise<number>} ada's at this client
 */
async function offlineSessions({ keycloak: { admin }, realm }, clientId) {
  const [client] = await admin.get(realm.path(`/clients?clientId=${clientId}`));
  const user = await realm.userId("ada");
  return (await admin.get(realm.path(`/users/${user}/offline-sessions/${client.id}`))).length;
}

/** @param {readonly import("../application/start.mjs").LogLine[]} log */
function warnings(log) {
  const codes = log.filter(({ level }) => level === "warn").map(({ code }) => code);
  return [...new Set(codes)].filter((code) => !code.startsWith("W")).join(", ");
}
