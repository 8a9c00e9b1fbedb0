// The ends of a session: in the application, and at the provider.
import { eventually } from "../application/tab.mjs";
import { asAda } from "./as-ada.mjs";

/**
 * @param {import("../application/start.mjs").ApplicationOptions} [application]
 * @returns {import("../servers.mjs").Step}
 */
export function logoutHereStep(application = {}) {
  return {
    key: "logout-here",
    title: "A logout ends the session in the application, in every window of this browser.",
    run: asAda(application, async (tab, { origin }) => {
      await tab.page.goto(`${origin}/idpauth/logout/`);
      const { status } = await tab.fetch("/api/session");
      return status === 401 ? undefined : `status ${status} after the logout`;
    }),
  };
}

/**
 * @param {import("../application/start.mjs").ApplicationOptions} [application]
 * @param {(page: import("playwright-core").Page) => Promise<void>} [confirm] on the provider's page
 * @returns {import("../servers.mjs").Step}
 */
export function logoutAtProviderStep(application = {}, confirm = async () => undefined) {
  const wish = { ...application, env: { ...application.env, IDP_LOGOUT_AT_PROVIDER: "on" } };
  return {
    key: "logout-at-provider",
    title:
      "With IDP_LOGOUT_AT_PROVIDER, a logout also ends the session at the provider, and the browser comes back to the application; the next sign-in asks for the password.",
    run: asAda(wish, async (tab, { origin }) => {
      await tab.page.goto(`${origin}/`);
      await tab.page.evaluate('location.href = "/idpauth/logout/"');
      await tab.page.waitForURL((url) => url.pathname !== "/");
      if (!tab.page.url().startsWith(origin)) await confirm(tab.page);
      await eventually(() => tab.page.url().startsWith(origin));
      const { status } = await tab.fetch("/api/session");
      if (status !== 401) return `status ${status} after the logout`;
      await tab.page.goto(`${origin}/guarded`);
      return tab.page.url().startsWith(origin)
        ? "the provider signs the user in again without asking"
        : undefined;
    }),
  };
}

/** Seconds that the provider has for telling the application of a logout. */
const NOTICE_SECONDS = 5;

/**
 * @param {object} step
 * @param {string} step.key
 * @param {string} step.title
 * @param {(page: import("playwright-core").Page, server: any) => Promise<void>} step.logOut uses the
 *   provider's own pages
 * @param {import("../application/start.mjs").ApplicationOptions} [step.application] with the setting
 *   for the provider's notice
 * @returns {import("../servers.mjs").Step}
 */
export function logoutFromProviderStep({ key, title, logOut, application = {} }) {
  return {
    key,
    title,
    run: (stage) =>
      stage.withApplication(application, async ({ newTab, log }) => {
        const [tab, other] = [await newTab(), await newTab()];
        await tab.signIn();
        await other.signIn();
        await logOut(tab.page, stage.server);
        const hasEnded = async () => (await tab.fetch("/api/session")).status === 401;
        await eventually(hasEnded, NOTICE_SECONDS).catch(() => undefined);
        if (!(await hasEnded())) return `the session continues: ${reasonOf(log())}`;
        const { status } = await other.fetch("/api/session");
        return status === 200 ? undefined : `status ${status} in the other browser`;
      }),
  };
}

/** @param {readonly import("../application/start.mjs").LogLine[]} log */
function reasonOf(log) {
  const { details } = log.findLast(({ level }) => level !== "info") ?? {};
  return String(details?.["reason"]);
}
