// The ends of a session: in the application, at Hydra, and from Hydra.
import { eventually } from "../application/tab.mjs";
import { logoutAtProviderStep } from "../steps/logout.mjs";
import { confirmLogout } from "./login-pages.mjs";
import { withRecorder } from "./token-recorder.mjs";

/** @type {readonly import("../servers.mjs").Step[]} */
export const LOGOUT_STEPS = [
  {
    key: "logout-here",
    title:
      "A logout ends the session in the application, and Hydra says of its access token and its refresh token that they are inactive.",
    run: (stage) =>
      withRecorder(stage, {}, async ({ newTab, origin }, { issued }) => {
        const tab = await newTab();
        await tab.signIn();
        const { access_token: access = "", refresh_token: refresh = "" } = issued.at(-1) ?? {};
        const { isActive } = stage.server.admin;
        if (!(await isActive(access)) || !(await isActive(refresh))) return "not active before";
        await tab.page.goto(`${origin}/idpauth/logout/`);
        const { status } = await tab.fetch("/api/session");
        if (status !== 401) return `status ${status} after the logout`;
        await eventually(async () => !(await isActive(refresh)));
        return (await isActive(access)) ? "the access token is still active" : undefined;
      }),
  },
  logoutAtProviderStep({}, confirmLogout),
  logoutFromHydraStep({
    key: "logout-back-channel",
    title:
      "A logout at Hydra ends the session of that browser by back-channel logout, and not the user's session in another browser.",
    env: { IDP_BACKCHANNEL_LOGOUT: "on" },
  }),
  logoutFromHydraStep({
    key: "logout-front-channel",
    title:
      "A logout at Hydra ends the session of that browser by front-channel logout, and not the user's session in another browser.",
    env: { IDP_FRONTCHANNEL_LOGOUT: "on" },
  }),
];

/**
 * @param {Omit<import("../servers.mjs").Step, "run"> & { env: Record<string, string> }} step
 * @returns {import("../servers.mjs").Step}
 */
function logoutFromHydraStep({ env, ...step }) {
  return {
    ...step,
    run: (stage) =>
      stage.withApplication({ env }, async ({ newTab, log }) => {
        const [tab, other] = [await newTab(), await newTab()];
        await tab.signIn();
        await other.signIn();
        await tab.page.goto(`${stage.server.issuer}/oauth2/sessions/logout`);
        await confirmLogout(tab.page);
        const hasEnded = async () => (await tab.fetch("/api/session")).status === 401;
        await eventually(hasEnded, 5).catch(() => undefined);
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
