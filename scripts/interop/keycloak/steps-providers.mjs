// Organizations, and a second realm as a second provider.
import { eventually } from "../application/tab.mjs";
import { signInAtKeycloak } from "./login-page.mjs";

/** @typedef {import("./keycloak.mjs").KeycloakServer} KeycloakServer */

/** Of the organization. */
const ALIAS = "lovelace";
const KEYS = /** @type {const} */ (["staff", "customers"]);

/**
 * Two realms, each as a provider with a key of its own.
 *
 * @param {import("../servers.mjs").Stage} stage
 * @returns {Promise<Record<"staff" | "customers", KeycloakServer>>}
 */
async function twoRealms(stage) {
  return { staff: await stage.server.newServer(), customers: await stage.server.newServer() };
}

/**
 * What an application with two providers registers.
 *
 * @param {Record<"staff" | "customers", KeycloakServer>} realms
 * @returns {KeycloakServer["newClient"]}
 */
const registerAtBoth = (realms) => async (wish) => {
  /** @type {Record<string, string>} */
  const settings = { IDP_PROVIDERS: KEYS.join(" ") };
  for (const key of KEYS) {
    const own = await realms[key].newClient({
      ...wish,
      settings: { redirectUris: [`${wish.origin}/idpauth/login-callback/${key}`] },
      attributes: {
        "backchannel.logout.url": `${wish.origin}/idpauth/backchannel-logout/${key}`,
        "backchannel.logout.session.required": "true",
      },
    });
    for (const [name, value] of Object.entries(own))
      settings[name.replace(/^IDP_/, `IDP_PROVIDER_${key.toUpperCase()}_`)] = value;
    settings[`IDP_PROVIDER_${key.toUpperCase()}_NAME`] = `The ${key}`;
  }
  return settings;
};

/** @type {readonly import("../servers.mjs").Step[]} */
export const PROVIDER_STEPS = [
  {
    key: "two-realms",
    title:
      "Two realms are two providers: users choose on idpauth's page, and when one realm ends a user's session, the back-channel logout ends that session only.",
    run: async (stage) => {
      const realms = await twoRealms(stage);
      const server = { ...realms.staff, newClient: registerAtBoth(realms) };
      const env = { IDP_BACKCHANNEL_LOGOUT: "on" };
      return stage.withApplication({ server, env }, async ({ newTab, origin }) => {
        const tabs = { staff: await newTab(), customers: await newTab() };
        for (const key of KEYS) {
          const { page, fetch } = tabs[key];
          await page.goto(`${origin}/guarded`);
          await page.getByRole("link", { name: `The ${key}` }).click();
          await page.waitForURL((url) => url.href.startsWith(realms[key].issuer));
          await signInAtKeycloak(page);
          if (page.url() !== `${origin}/guarded`) return `after the sign-in at ${page.url()}`;
          const { body } = await fetch("/api/session");
          if (body.provider !== key) return `the session's provider is ${body.provider}`;
        }
        const { keycloak, realm } = realms.customers;
        await keycloak.admin.post(realm.path(`/users/${await realm.userId("ada")}/logout`));
        await eventually(async () => (await tabs.customers.fetch("/api/session")).status === 401);
        const { status } = await tabs.staff.fetch("/api/session");
        return status === 200 ? undefined : `status ${status} for the other provider's session`;
      });
    },
  },
  {
    key: "organization",
    title:
      "In a realm with organizations, Keycloak asks for the user name first, and the claim `organization` arrives with the scope of this name.",
    run: async (stage) => {
      /** @type {KeycloakServer} */
      const server = await stage.server.newServer({ settings: { organizationsEnabled: true } });
      const { keycloak, realm } = server;
      const id = await keycloak.admin.post(realm.path("/organizations"), {
        name: "Lovelace & Söhne",
        alias: ALIAS,
        enabled: true,
        domains: [{ name: "lovelace.example" }],
      });
      await keycloak.admin.post(
        realm.path(`/organizations/${id}/members`),
        await realm.userId("ada"),
      );
      const env = { SCOPE: "openid profile email organization" };
      return stage.withApplication({ server, env }, async ({ newTab, origin }) => {
        const tab = await newTab();
        await tab.page.goto(`${origin}/guarded`);
        const isUserFirst = (await tab.page.locator("#password").count()) === 0;
        if (!isUserFirst) return "Keycloak asks for the password at once";
        await signInAtKeycloak(tab.page);
        for (const when of ["sign-in", "refresh"]) {
          const { claims } = (await tab.fetch("/api/session")).body;
          if (claims?.organization?.[0] !== ALIAS)
            return `the claim after the ${when} is ${claims?.organization}`;
          await tab.untilExpired();
        }
        return undefined;
      });
    },
  },
];
