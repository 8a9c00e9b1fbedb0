// What Dex with sessions is asked for.
import { withRecorder } from "../application/token-recorder.mjs";
import {
  INVALID_REQUEST,
  lostWithoutReuse,
  newSigningKeyStep,
  NO_REUSE,
  userRemovedStep,
} from "../dex/steps.mjs";
import { logOutAtProvider } from "../dex/pages.mjs";
import { checkLiveStep } from "../steps/check-live.mjs";
import { logoutAtProviderStep, logoutFromProviderStep, logoutHereStep } from "../steps/logout.mjs";
import { stoppedStep } from "../steps/outage.mjs";
import { killedProcessStep, refreshRaceStep } from "../steps/refresh-race.mjs";
import { refreshByHand } from "../steps/refresh-tokens.mjs";
import { revokedStep } from "../steps/revoked.mjs";
import { secondBrowserStep } from "../steps/second-browser.mjs";
import { signInBasicStep, signInPostStep } from "../steps/sign-in.mjs";
import { maxAgeStep } from "../steps/step-up.mjs";
import { withSettings } from "../steps/with-settings.mjs";

/** @typedef {import("../servers.mjs").Step} Step */

/** @type {readonly Step[]} */
export const steps = [
  checkLiveStep({ expectedCodes: ["W101"] }),
  signInPostStep(),
  signInBasicStep(),
  refreshRaceStep(),
  killedProcessStep(),
  lostWithoutReuse(),
  {
    ...secondBrowserStep(),
    expected: "status 503 in the first browser",
    reason: `Also with a session for each browser, Dex keeps one refresh token for each user and client. ${INVALID_REQUEST}`,
  },
  {
    ...revokedStep({
      key: "tokens-revoked",
      title:
        "An administrator revokes a user's refresh token: that session ends after the next expiry, no other.",
      revoke: ({ stage, clientId }) => stage.server.revokeTokens({ client: clientId, user: "ada" }),
    }),
    expected: "status 503 after the next expiry",
    reason: INVALID_REQUEST,
  },
  withSettings(NO_REUSE, {
    ...userRemovedStep(),
    expected: "status 200 after the next expiry",
    reason:
      "With sessions, Dex refreshes with what it has noted at the last sign-in, and doesn't look up the user.",
  }),
  maxAgeStep(),
  logoutHereStep(),
  logoutAtProviderStep(),
  logoutFromProviderStep({
    key: "logout-back-channel",
    title:
      "A logout at Dex ends the session of that browser by back-channel logout, and not the user's session in another browser.",
    logOut: logOutAtProvider,
    application: { env: { IDP_BACKCHANNEL_LOGOUT: "on" } },
  }),
  {
    ...tokensAfterLogoutStep("standalone"),
    expected: "the refresh token still works",
    reason:
      "Dex has no revocation endpoint, and by default its refresh tokens outlive its sessions.",
  },
  tokensAfterLogoutStep("session"),
  {
    ...revokedStep({
      key: "bound-token",
      title:
        "A client with `refreshTokenLifetime: session`, and without back-channel logout: the user logs out at Dex, and the application's session ends after the next expiry, no other.",
      application: { client: { refreshTokenLifetime: "session" } },
      revoke: ({ stage, page }) => logOutAtProvider(page, stage.server),
    }),
    expected: "status 503 after the next expiry",
    reason: INVALID_REQUEST,
  },
  newSigningKeyStep((server) => server.restart({ newSigningKey: true })),
  stoppedStep({ name: "Dex" }),
];

/**
 * @param {"standalone" | "session"} refreshTokenLifetime
 * @returns {Step}
 */
function tokensAfterLogoutStep(refreshTokenLifetime) {
  return {
    key: `token-after-logout-${refreshTokenLifetime}`,
    title: `A client with \`refreshTokenLifetime: ${refreshTokenLifetime}\`: with IDP_LOGOUT_AT_PROVIDER, Dex refuses the refresh token after a logout.`,
    run: (stage) => {
      const client = { refreshTokenLifetime };
      const env = { IDP_LOGOUT_AT_PROVIDER: "on" };
      return withRecorder(stage, { client, env }, async (application, { issued, provider }) => {
        const { page, signIn } = await application.newTab();
        await signIn();
        const before = await refreshByHand(provider, application.env, issued.at(-1));
        if (before.status !== 200) return `status ${before.status} before the logout`;
        await page.evaluate('location.href = "/idpauth/logout/"');
        await page.waitForURL((url) => url.pathname !== "/guarded");
        await page.waitForURL((url) => url.origin === application.origin);
        const { status } = await refreshByHand(provider, application.env, issued.at(-1));
        return status === 400 ? undefined : "the refresh token still works";
      });
    },
  };
}
