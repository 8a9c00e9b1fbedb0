// Rules over groups and roles, and claims that are large or need escaping.
import { confirmLogout } from "./login-page.mjs";
import { PASSWORD } from "./realm.mjs";

const HOSTILE_GROUP = `Führung "A" <b>&amp;'%22</b> ✓`;
const HOSTILE_NAME = `Zoë O’Brien-D'Arc`;

/** @type {readonly import("../servers.mjs").Step[]} */
export const RULE_STEPS = [
  {
    key: "rules",
    title:
      "Rules over the claims `groups` and `roles` let a member pass; another user gets 403, as a page and as JSON.",
    run: (stage) =>
      stage.withApplication({}, async ({ newTab, origin }) => {
        const [ada, grace] = [await newTab(), await newTab()];
        await ada.signIn("ada");
        await grace.signIn("grace");
        for (const path of ["/admins", "/role"]) {
          const { status } = await ada.fetch(path);
          if (status !== 200) return `status ${status} at ${path} for the member`;
          const json = await grace.fetch(path);
          if (json.status !== 403 || json.body.code !== "forbidden")
            return `status ${json.status}, code ${json.body.code}, at ${path} for another user`;
          const page = await grace.page.goto(`${origin}${path}`);
          if (page?.status() !== 403) return `a page with status ${page?.status()} at ${path}`;
        }
        return undefined;
      }),
  },
  {
    key: "group-removed",
    title:
      "The admin takes a user out of a group: after the next refresh, the rule responds with 403, and the user is still signed in.",
    run: async (stage) => {
      const { keycloak, realm, ...server } = await stage.server.newServer();
      return stage.withApplication({ server }, async ({ newTab }) => {
        const tab = await newTab();
        await tab.signIn("ada", "/admins");
        const user = realm.path(`/users/${await realm.userId("ada")}`);
        const [group] = await keycloak.admin.get(`${user}/groups`);
        await keycloak.admin.delete(`${user}/groups/${group.id}`);
        await tab.untilExpired();
        const refused = await tab.fetch("/admins");
        if (refused.status !== 403) return `status ${refused.status} after the refresh`;
        const { status } = await tab.fetch("/api/session");
        return status === 200 ? undefined : `signed out, status ${status}`;
      });
    },
  },
  {
    key: "hostile-values",
    title:
      "A name and a group with umlauts, quotes and tags reach the claims unchanged, and idpauth's page shows the name as it is.",
    run: async (stage) => {
      const { keycloak, realm, ...server } = await stage.server.newServer();
      await keycloak.admin.post(realm.path("/groups"), { name: HOSTILE_GROUP });
      await addUser(keycloak.admin, realm, {
        username: "zoë",
        email: "zoe+'quoted'@example.com",
        firstName: HOSTILE_NAME,
        lastName: "Müller-Ńguyễn",
        groups: [HOSTILE_GROUP],
      });
      return stage.withApplication({ server }, async ({ newTab, origin }) => {
        const tab = await newTab();
        await tab.signIn("zoë");
        const { user, claims } = (await tab.fetch("/api/session")).body;
        if (user.name !== `${HOSTILE_NAME} Müller-Ńguyễn`) return `the name ${user.name}`;
        if (claims.groups?.[0] !== HOSTILE_GROUP) return `the group ${claims.groups}`;
        await tab.page.goto(`${origin}/idpauth/`);
        const shown = await tab.page.getByText(`${HOSTILE_NAME} Müller-Ńguyễn`).count();
        return shown > 0 ? undefined : "the page doesn't show the name";
      });
    },
  },
  {
    key: "many-groups",
    title:
      "A user in 200 groups signs in, and the rule lets the user pass. The ID token is too long for the logout's address, so Keycloak asks the user to confirm the logout.",
    run: async (stage) => {
      const groups = Array.from({ length: 200 }, (_, index) => `a department's long name ${index}`);
      const names = ["admins", ...groups].map((name) => ({ name }));
      const { keycloak, realm, ...server } = await stage.server.newServer({
        settings: { groups: names },
      });
      await addUser(keycloak.admin, realm, {
        username: "mary",
        email: "mary@example.com",
        firstName: "Mary",
        lastName: "Shelley",
        groups: names.map(({ name }) => name),
      });
      const env = { IDP_LOGOUT_AT_PROVIDER: "on" };
      return stage.withApplication({ server, env }, async ({ newTab, origin }) => {
        const tab = await newTab();
        await tab.signIn("mary", "/admins");
        await tab.page.goto(`${origin}/`);
        await tab.page.evaluate('location.href = "/idpauth/logout/"');
        await tab.page.waitForURL((url) => !url.href.startsWith(origin));
        await confirmLogout(tab.page);
        await tab.page.waitForURL((url) => url.href.startsWith(origin));
        const { status } = await tab.fetch("/api/session");
        return status === 401 ? undefined : `status ${status} after the logout`;
      });
    },
  },
];

/**
 * @param {import("./admin.mjs").Admin} admin
 * @param {import("./realm.mjs").Realm} realm
 * @param {Record<string, unknown>} user
 */
async function addUser(admin, realm, user) {
  const credentials = [{ type: "password", value: PASSWORD, temporary: false }];
  await admin.post(realm.path("/users"), { enabled: true, credentials, ...user });
}
