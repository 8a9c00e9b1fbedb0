// What django-oauth-toolkit is asked for.
import { checkLiveStep } from "../steps/check-live.mjs";
import { logoutAtProviderStep, logoutHereStep } from "../steps/logout.mjs";
import { stoppedStep } from "../steps/outage.mjs";
import { killedProcessStep, refreshRaceStep } from "../steps/refresh-race.mjs";
import { lostResponseStep, usedTokenStep } from "../steps/refresh-tokens.mjs";
import { notRevokedStep, revocationStep } from "../steps/revocation.mjs";
import { revokedStep } from "../steps/revoked.mjs";
import { wrongStatusAfterExpiry } from "../status-after-expiry.mjs";
import {
  bareSignInStep,
  groupsStep,
  signInEncodedStep,
  signInPostStep,
} from "../steps/sign-in.mjs";
import { keyRotationSteps } from "../steps/signing-key.mjs";
import { maxAgeStep } from "../steps/step-up.mjs";
import { withSettings } from "../steps/with-settings.mjs";
import { confirmLogout, revokeTokens } from "./pages.mjs";
import { deactivatedStep, refusedStep } from "./steps.mjs";

const AT_PROVIDER = { env: { IDP_LOGOUT_AT_PROVIDER: "on" } };
const race = refreshRaceStep({}, 1);

/** @type {readonly import("../servers.mjs").Step[]} */
export const STEPS = [
  checkLiveStep({ expectedCodes: ["W101", "W103"] }),
  signInPostStep(),
  signInEncodedStep(),
  withSettings(
    { OAUTH2_VALIDATOR_CLASS: "oauth2_provider.oauth2_validators.OAuth2Validator" },
    bareSignInStep({
      title:
        "With the toolkit's own validator, neither the ID token nor userinfo contains the user's name or email address: the user signs in with `sub` only.",
    }),
  ),
  refusedStep(),
  groupsStep(),
  refreshRaceStep(),
  withSettings(
    { ROTATE_REFRESH_TOKEN: false },
    { ...race, key: "refresh-race-same", title: `With ROTATE_REFRESH_TOKEN off: ${race.title}` },
  ),
  killedProcessStep(),
  usedTokenStep({
    key: "used-token",
    title:
      "Somebody sends a refresh token that has been used. By default, the toolkit refuses only that token, and the session continues.",
    status: 200,
  }),
  withSettings(
    { REFRESH_TOKEN_REUSE_PROTECTION: true },
    usedTokenStep({
      key: "used-token-protected",
      title:
        "With REFRESH_TOKEN_REUSE_PROTECTION, the toolkit revokes all successors of a refresh token that is used again, and the session ends with 401 at its next refresh.",
      status: 401,
    }),
  ),
  lostResponseStep({
    key: "lost-response",
    title:
      "The response to a refresh is lost. By default, the toolkit refuses the previous token, and the session ends with 401.",
    status: 401,
  }),
  withSettings(
    { ROTATE_REFRESH_TOKEN: false },
    lostResponseStep({
      key: "lost-response-same",
      title:
        "With ROTATE_REFRESH_TOKEN off, the response to a refresh is lost: the same token works again, and the session continues.",
      status: 200,
    }),
  ),
  {
    ...withSettings(
      { REFRESH_TOKEN_GRACE_PERIOD_SECONDS: 120 },
      lostResponseStep({
        key: "lost-response-grace",
        title:
          "With REFRESH_TOKEN_GRACE_PERIOD_SECONDS, the response to a refresh is lost: the previous token works again, and the session continues.",
        status: 200,
      }),
    ),
    expected: "status 401",
    reason:
      "The toolkit then returns the access token of the lost response, but an ID token with the `at_hash` of another one, which idpauth refuses.",
  },
  maxAgeStep(),
  revokedStep({
    key: "revoked-by-user",
    title:
      "The user revokes the application's tokens on the toolkit's page: that session ends after the next expiry, no other.",
    revoke: ({ stage, clientId, page }) =>
      revokeTokens(page, { issuer: stage.server.issuer, clientId }),
  }),
  {
    ...deactivatedStep({
      key: "user-deactivated",
      title: "An administrator deactivates a user: the session ends after the next expiry.",
    }),
    expected: "status 200 after the next expiry",
    reason:
      "The toolkit goes on refreshing the tokens of a user whom Django no longer lets sign in.",
  },
  withSettings(
    { OAUTH2_VALIDATOR_CLASS: "toolkit_claims.ActiveUsersOnly" },
    deactivatedStep({
      key: "user-deactivated-checked",
      title:
        "With a validator that checks `is_active` during a refresh, the session of a deactivated user ends after the next expiry.",
    }),
  ),
  logoutHereStep(),
  notRevokedStep({
    title:
      "The toolkit doesn't advertise its revocation endpoint, so without a setting, the refresh token is still valid after a logout.",
  }),
  revocationStep({
    title:
      "With the revocation endpoint in IDP_PROVIDER_METADATA, a logout revokes the refresh token, as the provider's own record shows.",
    application: { client: { canRevoke: true } },
  }),
  logoutAtProviderStep({}, confirmLogout),
  otherBrowserStep({
    key: "logout-other-browser",
    title:
      "By default, a logout at the toolkit revokes all the user's tokens, and the user's session in another browser ends after the next expiry.",
    status: 401,
  }),
  withSettings(
    { OIDC_RP_INITIATED_LOGOUT_DELETE_TOKENS: false },
    otherBrowserStep({
      key: "logout-this-browser",
      title:
        "Without OIDC_RP_INITIATED_LOGOUT_DELETE_TOKENS, the user's session in another browser continues after a logout at the toolkit.",
      status: 200,
    }),
  ),
  ...keyRotationSteps({
    gets: "The project gets a new signing key",
    publishes: "publishes the old one with OIDC_RSA_PRIVATE_KEYS_INACTIVE",
  }),
  {
    key: "logout-after-key-rotation",
    title:
      "The project gets a new signing key, and publishes the old one. A user whose ID token has the old key logs out at the toolkit, and the browser comes back to the application.",
    run: logOutWithOldKey,
    expected: "the toolkit shows an error",
    reason: "The toolkit verifies the ID token in a logout request only with the new key.",
  },
  stoppedStep({ name: "Django", key: "restarted" }),
];

/**
 * @param {{ key: string, title: string, status: 200 | 401 }} step `status` of the other browser
 * @returns {import("../servers.mjs").Step}
 */
function otherBrowserStep({ key, title, status }) {
  return {
    key,
    title,
    run: (stage) =>
      stage.withApplication(AT_PROVIDER, async ({ newTab, origin }) => {
        const [tab, other] = [await newTab(), await newTab()];
        await tab.signIn();
        await other.signIn();
        await beginLogout(tab.page, origin);
        await confirmLogout(tab.page);
        await tab.page.waitForURL((url) => url.origin === origin);
        return wrongStatusAfterExpiry(other, status);
      }),
  };
}

/** @type {import("../servers.mjs").Step["run"]} */
function logOutWithOldKey(stage) {
  return stage.withApplication(AT_PROVIDER, async ({ newTab, origin }) => {
    const { page, signIn } = await newTab();
    await signIn();
    await stage.server.replaceKey("old key published");
    await beginLogout(page, origin);
    if ((await page.getByRole("heading", { name: /^Error/ }).count()) > 0)
      return "the toolkit shows an error";
    await confirmLogout(page);
    return page.waitForURL((url) => url.origin === origin);
  });
}

/**
 * @param {import("playwright-core").Page} page
 * @param {string} origin of the application
 */
async function beginLogout(page, origin) {
  await page.goto(`${origin}/`);
  await page.evaluate('location.href = "/idpauth/logout/"');
  await page.waitForURL((url) => url.origin !== origin);
}
