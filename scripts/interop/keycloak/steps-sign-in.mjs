// Ways to sign in at Keycloak.
import { eventually } from "../application/tab.mjs";
import { checkLiveStep } from "../steps/check-live.mjs";
import { signInStep } from "../steps/sign-in.mjs";
import { signInAtKeycloak } from "./login-page.mjs";
import { inOwnRealm } from "./own-realm.mjs";
import { asAda } from "../steps/as-ada.mjs";

/** An id and a secret that form encoding changes, and a colon, which separates them in the header. */
const ENCODED = { id: "my app:ä/1", secret: "s+c %41:ß/=&~" };

/** Keycloak needs no offline_access for a refresh token. */
export const CHECK_LIVE = checkLiveStep();

/** @type {readonly import("../servers.mjs").Step[]} */
export const BASIC_STEPS = [
  signInStep({
    key: "client-secret-basic",
    title: "A user signs in, and the first refresh succeeds, with `client_secret_basic`.",
    application: { client: { method: "client_secret_basic" } },
  }),
  signInStep({
    key: "client-secret-basic-encoded",
    title:
      "The same with `client_secret_basic`, and a client ID and a secret that form encoding changes.",
    application: { client: { method: "client_secret_basic", ...ENCODED } },
  }),
];

/** @type {readonly import("../servers.mjs").Step[]} */
export const SIGN_IN_STEPS = [
  CHECK_LIVE,
  signInStep({
    key: "client-secret-post",
    title: "A user signs in, and the first refresh succeeds, with `client_secret_post`.",
  }),
  ...BASIC_STEPS,
  signInStep({
    key: "private-key",
    title: "The same with `private_key_jwt`; Keycloak has the public half.",
    application: { client: { method: "private_key_jwt" } },
  }),
  signInStep({
    key: "consent",
    title: "The client needs the user's consent: the user gives it, and is signed in.",
    application: { client: { settings: { consentRequired: true } } },
  }),
  consentRefusedStep(),
  inOwnRealm(rememberMeStep(), { settings: { rememberMe: true } }),
  inOwnRealm(requiredActionStep()),
  inOwnRealm(cancelledActionStep()),
  inOwnRealm(changedEmailStep()),
];

/** @returns {import("../servers.mjs").Step} */
function consentRefusedStep() {
  return {
    key: "consent-refused",
    title:
      "The user refuses the consent: the application shows that the sign-in was cancelled, and the user can try again.",
    run: (stage) =>
      stage.withApplication(
        { client: { settings: { consentRequired: true } } },
        async ({ newTab, origin }) => {
          const tab = await newTab();
          await tab.page.goto(`${origin}/guarded`);
          await signInAtKeycloak(tab.page, { consent: "No" });
          await tab.page.waitForURL((url) => url.href.startsWith(origin));
          const { status } = await tab.fetch("/api/session");
          if (status !== 401) return `status ${status} after the refusal`;
          await tab.page.getByText("You did not give your consent").waitFor();
          await tab.signIn("ada");
          return undefined;
        },
      ),
  };
}

/** @returns {import("../servers.mjs").Step} */
function rememberMeStep() {
  return {
    key: "remember-me",
    title: "The user ticks “Remember me”, and is signed in.",
    run: (stage) =>
      stage.withApplication({}, async ({ newTab, origin }) => {
        const tab = await newTab();
        await tab.page.goto(`${origin}/guarded`);
        await signInAtKeycloak(tab.page, { remember: true });
        await tab.page.waitForURL(`${origin}/guarded`);
        await tab.untilExpired();
        const { status } = await tab.fetch("/api/session");
        return status === 200 ? undefined : `status ${status} after the first expiry`;
      }),
  };
}

/** @returns {import("../servers.mjs").Step} */
function requiredActionStep() {
  return {
    key: "required-action",
    title: "Keycloak requires a new password when the user signs in, and then signs the user in.",
    run: (stage) =>
      stage.withApplication({}, async ({ newTab, origin }) => {
        await changeUser(stage.server, { requiredActions: ["UPDATE_PASSWORD"] });
        const tab = await newTab();
        await tab.page.goto(`${origin}/guarded`);
        await signInAtKeycloak(tab.page, { newPassword: "another horse" });
        await tab.page.waitForURL(`${origin}/guarded`);
        const { status } = await tab.fetch("/api/session");
        return status === 200 ? undefined : `status ${status}`;
      }),
  };
}

/** @returns {import("../servers.mjs").Step} */
function cancelledActionStep() {
  const application = { env: { IDP_LOGIN_PARAMS: "kc_action" } };
  return {
    key: "cancelled-action",
    title:
      "The application sends the user to Keycloak to change the password (`kc_action`); the user cancels, and stays signed in.",
    run: asAda(application, async (tab, { origin }) => {
      const back = new URLSearchParams({
        scheme: "PRESERVE_ORIGIN_QP",
        origin_url: `${origin}/guarded`,
      });
      await tab.page.goto(`${origin}/idpauth/login/?kc_action=UPDATE_PASSWORD&${back.toString()}`);
      await tab.page.getByRole("button", { name: "Cancel" }).click();
      await tab.page.waitForURL(`${origin}/guarded`);
      const { status } = await tab.fetch("/api/session");
      return status === 200 ? undefined : `status ${status}, at ${tab.page.url()}`;
    }),
  };
}

/** @returns {import("../servers.mjs").Step} */
function changedEmailStep() {
  return {
    key: "changed-email",
    title: "The user's email address changes at Keycloak: the session has it after a refresh.",
    run: asAda({}, async (tab, _application, stage) => {
      await changeUser(stage.server, { email: "lovelace@example.com" });
      await eventually(async () => {
        const { body } = await tab.fetch("/api/session");
        return body.user?.email === "lovelace@example.com";
      });
      return undefined;
    }),
  };
}

/**
 * @param {import("./keycloak.mjs").KeycloakServer} server
 * @param {Record<string, unknown>} changes
 */
async function changeUser({ keycloak, realm }, changes) {
  const path = realm.path(`/users/${await realm.userId("ada")}`);
  await keycloak.admin.put(path, { ...(await keycloak.admin.get(path)), ...changes });
}
