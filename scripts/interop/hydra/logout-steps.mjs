// The ends of a session: in the application, at Hydra, and from Hydra.
import { eventually } from "../application/tab.mjs";
import { withRecorder } from "../application/token-recorder.mjs";
import { logoutAtProviderStep, logoutFromProviderStep } from "../steps/logout.mjs";
import { confirmLogout } from "./login-pages.mjs";

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
  logoutFromProviderStep({
    key: "logout-back-channel",
    title:
      "A logout at Hydra ends the session of that browser by back-channel logout, and not the user's session in another browser.",
    logOut: logOutAtHydra,
    application: { env: { IDP_BACKCHANNEL_LOGOUT: "on" } },
  }),
  logoutFromProviderStep({
    key: "logout-front-channel",
    title:
      "A logout at Hydra ends the session of that browser by front-channel logout, and not the user's session in another browser.",
    logOut: logOutAtHydra,
    application: { env: { IDP_FRONTCHANNEL_LOGOUT: "on" } },
  }),
];

/**
 * @param {import("playwright-core").Page} page
 * @param {{ issuer: string }} server
 */
async function logOutAtHydra(page, { issuer }) {
  await page.goto(`${issuer}/oauth2/sessions/logout`);
  await confirmLogout(page);
}
