// Rules over groups and roles, and values with characters that HTML, JSON and headers escape.

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
      await keycloak.admin.post(realm.path("/users"), {
        username: "zoë",
        enabled: true,
        email: "zoe+'quoted'@example.com",
        firstName: HOSTILE_NAME,
        lastName: "Müller-Ńguyễn",
        groups: [HOSTILE_GROUP],
        credentials: [{ type: "password", value: "correct horse", temporary: false }],
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
];
