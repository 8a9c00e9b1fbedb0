// What happens to users while Keycloak, its database, its keys or a clock are not as they should be.
import { eventually, seconds } from "../application/tab.mjs";
import { checkLive } from "../steps/check-live.mjs";
import { afterOutage, outageStep } from "../steps/outage.mjs";

/** Seconds for which Keycloak answers nothing. */
const FROZEN_SECONDS = 20;
/** Seconds that the application's clock is off. */
const OFF = 30;

/** @typedef {Omit<import("../servers.mjs").Stage, "server"> & { server: import("./keycloak.mjs").KeycloakServer }} Stage */

/** @type {readonly import("../servers.mjs").Step[]} */
export const OUTAGE_STEPS = [
  {
    key: "key-rotation",
    title:
      "Keycloak gets a new signing key, and the old one is disabled: the next refresh and the next sign-in succeed.",
    run: async (/** @type {Stage} */ stage) => {
      const server = await stage.server.newServer();
      return stage.withApplication({ server }, async ({ newTab }) => {
        const tab = await newTab();
        await tab.signIn();
        await rotateKey(server);
        await tab.untilExpired();
        const { status } = await tab.fetch("/api/session");
        if (status !== 200) return `status ${status} at the refresh after the rotation`;
        await (await newTab()).signIn("grace");
        return undefined;
      });
    },
  },
  outageStep({
    key: "restarted",
    title:
      "While Keycloak is stopped, a request that needs it gets 503 with Retry-After. When it runs again, the same session goes on without a sign-in.",
    begin: ({ keycloak }) => keycloak.stop(),
    end: ({ keycloak }) => keycloak.restart(),
  }),
  outageStep({
    key: "frozen",
    title: `Keycloak accepts connections, but answers nothing for ${FROZEN_SECONDS} seconds: 503 with Retry-After, and afterwards the same session goes on.`,
    begin: async ({ keycloak }) => keycloak.freeze(),
    end: async ({ keycloak }) => {
      await seconds(FROZEN_SECONDS);
      keycloak.thaw();
    },
  }),
  outageStep({
    key: "database-gone",
    title:
      "Keycloak's database is gone, so that Keycloak itself answers with an error: 503 with Retry-After, and afterwards the same session goes on.",
    begin: ({ keycloak }) => keycloak.database.stop(),
    end: ({ keycloak }) => keycloak.database.start(),
  }),
  ...[OFF, -OFF].map((ahead) => clock(ahead)),
  {
    key: "internal-address",
    title:
      "The application reaches Keycloak only at an internal address (IDP_DISCOVERY_URL), and browsers only at the public one: sign-in, refresh and logout succeed.",
    run: (/** @type {Stage} */ stage) => {
      const { keycloak, issuer } = stage.server;
      const IDP_DISCOVERY_URL = `${issuer.replace(keycloak.url, keycloak.internalUrl)}/.well-known/openid-configuration`;
      // Without its CA, the public address can't be used.
      const env = { IDP_DISCOVERY_URL, NODE_EXTRA_CA_CERTS: "", IDP_LOGOUT_AT_PROVIDER: "on" };
      return stage.withApplication({ env }, async ({ newTab, origin }) => {
        const tab = await newTab();
        await tab.signIn();
        await tab.untilExpired();
        const { status } = await tab.fetch("/api/session");
        if (status !== 200) return `status ${status} at the refresh`;
        await tab.page.evaluate("location.href = '/idpauth/logout/'");
        await eventually(() => tab.page.url().startsWith(origin));
        const after = await tab.fetch("/api/session");
        return after.status === 401 ? undefined : `status ${after.status} after the logout`;
      });
    },
  },
  {
    key: "own-ca",
    title:
      "Without Keycloak's CA, a login gets 503, and `idpauth check --live` says that the certificate isn't trusted; with NODE_EXTRA_CA_CERTS, as in all other steps, it works.",
    run: (/** @type {Stage} */ stage) =>
      stage.withApplication({ env: { NODE_EXTRA_CA_CERTS: "" } }, async ({ newTab, env }) => {
        const tab = await newTab();
        const { status } = await tab.fetch("/idpauth/login/");
        if (status !== 503) return `status ${status} at the login`;
        const { codes } = await checkLive(env);
        return codes.includes("E102") ? undefined : `the check finds ${codes.join(", ")}`;
      }),
  },
];

/**
 * @param {number} ahead
 * @returns {import("../servers.mjs").Step}
 */
function clock(ahead) {
  const where = ahead > 0 ? "ahead" : "behind";
  return {
    key: `clock-${where}`,
    title: `The application's clock is ${OFF} s ${where}: 503, and a log line that names the clock. When it's right again, the same session goes on.`,
    run: (/** @type {Stage} */ stage) =>
      stage.withApplication({}, async ({ newTab, setClock, log }) => {
        const tab = await newTab();
        await tab.signIn();
        await tab.untilExpired();
        await setClock(ahead);
        if (ahead < 0) await seconds(OFF + 1);
        const { status } = await tab.fetch("/api/session");
        if (status !== 503) return `status ${status} with the wrong clock`;
        const said = log().some(({ message }) => /clock/i.test(message));
        await setClock(0);
        return said ? afterOutage(tab) : "no log line names the clock";
      }),
  };
}

/** @param {Stage["server"]} server */
async function rotateKey({ keycloak: { admin }, realm }) {
  const { id } = await admin.get(realm.path(""));
  const type = "org.keycloak.keys.KeyProvider";
  const [old] = (await admin.get(realm.path(`/components?type=${type}`))).filter(
    (/** @type {{ providerId: string, name: string }} */ { name }) => name === "rsa-generated",
  );
  await admin.post(realm.path("/components"), {
    name: "new",
    providerId: "rsa-generated",
    providerType: type,
    parentId: id,
    config: { priority: ["200"], enabled: ["true"], active: ["true"], keySize: ["2048"] },
  });
  await admin.put(realm.path(`/components/${old.id}`), {
    ...old,
    config: { ...old.config, enabled: ["false"] },
  });
}
