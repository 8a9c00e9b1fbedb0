// Users of a SAML provider, who sign in through Keycloak's identity brokering.
import { PASSWORD } from "./realm.mjs";
import { ALIAS, newBroker, sendPassword } from "./saml-customer.mjs";

const HINT = { IDP_AUTHORIZATION_PARAMS: `kc_idp_hint=${ALIAS}` };

/** @type {readonly import("../servers.mjs").Step[]} */
export const BROKER_STEPS = [
  {
    key: "saml-sign-in",
    title:
      "With `kc_idp_hint`, a user signs in on the SAML provider's page without seeing Keycloak's own. `iss` and `sub` are those of the broker's realm, the name and the email address come from SAML, and the second sign-in has the same `sub`.",
    run: async (stage) => {
      const { broker, customer } = await newBroker(stage);
      return stage.withApplication({ server: broker, env: HINT }, async ({ newTab }) => {
        /** @type {string[]} */
        const subjects = [];
        for (const tab of [await newTab(), await newTab()]) {
          await tab.signIn("ada");
          const { claims } = (await tab.fetch("/api/session")).body;
          const { iss, sub, name, email } = claims;
          if (iss !== broker.issuer) return `iss ${iss}`;
          if (name !== "Ada Lovelace" || email !== "ada@example.com")
            return `name ${name}, email ${email}`;
          subjects.push(sub);
        }
        const users = await broker.keycloak.admin.get(broker.realm.path("/users"));
        const ids = users.map((/** @type {{ id: string }} */ { id }) => id);
        if (ids.join() !== subjects[0] || subjects[0] !== subjects[1])
          return `the users ${ids.join()} sign in as ${subjects.join()}`;
        return subjects[0] === (await customer.realm.userId("ada"))
          ? "sub is the SAML provider's"
          : undefined;
      });
    },
  },
  {
    key: "saml-refresh",
    title:
      "A refresh doesn't reach the SAML provider: the session continues after the customer has disabled the user, who can't sign in again.",
    run: async (stage) => {
      const { broker, customer } = await newBroker(stage);
      return stage.withApplication({ server: broker, env: HINT }, async ({ newTab, origin }) => {
        const tab = await newTab();
        await tab.signIn("ada");
        const { keycloak, realm } = customer;
        const path = realm.path(`/users/${await realm.userId("ada")}`);
        await keycloak.admin.put(path, { ...(await keycloak.admin.get(path)), enabled: false });
        await tab.untilExpired();
        const { status } = await tab.fetch("/api/session");
        if (status !== 200) return `status ${status} after the first expiry`;
        if ((await broker.tokenRequests()) === 0) return "there was no refresh";
        const { page } = await newTab();
        await page.goto(`${origin}/guarded`);
        await sendPassword(page, "ada");
        await page.getByText("Account is disabled").waitFor();
        return undefined;
      });
    },
  },
  {
    key: "saml-logout",
    title:
      "With `IDP_LOGOUT_AT_PROVIDER`, a logout ends the sessions at Keycloak and at the SAML provider, and the browser returns to the application; the next sign-in asks for the password.",
    run: async (stage) => {
      const { broker, customer } = await newBroker(stage);
      const env = { ...HINT, IDP_LOGOUT_AT_PROVIDER: "on" };
      return stage.withApplication({ server: broker, env }, async ({ newTab, origin }) => {
        const tab = await newTab();
        await tab.signIn("ada");
        await tab.page.goto(`${origin}/`);
        await tab.page.evaluate('location.href = "/idpauth/logout/"');
        await tab.page.waitForURL((url) => url.href.startsWith(`${origin}/idpauth/`));
        for (const [name, { keycloak, realm }] of Object.entries({ broker, customer })) {
          const found = await keycloak.admin.get(realm.path("/users?email=ada@example.com"));
          const sessions = await keycloak.admin.get(realm.path(`/users/${found[0].id}/sessions`));
          if (sessions.length > 0) return `a session of the ${name} lives on`;
        }
        await tab.page.goto(`${origin}/guarded`);
        await tab.page.locator("#password").waitFor();
        return tab.page.url().startsWith(`${customer.issuer}/`)
          ? undefined
          : `the next sign-in is at ${tab.page.url()}`;
      });
    },
  },
  {
    key: "saml-hint-only",
    title:
      "`kc_idp_hint` doesn't limit who signs in: a user who already has a session in the broker's realm, from another provider or a password there, is signed in without the SAML provider.",
    run: async (stage) => {
      const { broker } = await newBroker(stage);
      const { admin } = broker.keycloak;
      await admin.post(broker.realm.path("/users"), {
        username: "eve",
        email: "eve@example.com",
        enabled: true,
        firstName: "Eve",
        lastName: "Elsewhere",
        credentials: [{ type: "password", value: PASSWORD, temporary: false }],
      });
      return stage.withApplication({ server: broker, env: HINT }, async ({ newTab, origin }) => {
        const { page, fetch } = await newTab();
        await page.goto(`${broker.issuer}/account/`);
        await sendPassword(page, "eve");
        await page.waitForURL((url) => url.href.startsWith(`${broker.issuer}/account/`));
        await page.goto(`${origin}/guarded`);
        await page.waitForURL(`${origin}/guarded`);
        const { user } = (await fetch("/api/session")).body;
        return user.email === "eve@example.com" ? undefined : `the user is ${user.email}`;
      });
    },
  },
];
