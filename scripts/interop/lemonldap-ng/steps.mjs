// What LemonLDAP::NG is asked for.
import { checkLiveStep } from "../steps/check-live.mjs";
import { consentRefusedStep } from "../steps/consent-refused.mjs";
import { stoppedStep } from "../steps/outage.mjs";
import { killedProcessStep, refreshRaceStep } from "../steps/refresh-race.mjs";
import { lostResponseStep } from "../steps/refresh-tokens.mjs";
import { secondBrowserStep } from "../steps/second-browser.mjs";
import { groupsStep, signInStep, undecodedBasicSteps } from "../steps/sign-in.mjs";
import { signingKeyStep } from "../steps/signing-key.mjs";
import { maxAgeStep } from "../steps/step-up.mjs";
import { END_STEPS } from "./end-steps.mjs";
import { LOGOUT_STEPS } from "./logout-steps.mjs";
import { accept, refuse, signInAtProvider } from "./pages.mjs";

/** The portal can't revoke tokens, and doesn't advertise `offline_access`. */
const EXPECTED_CODES = ["W101", "W103"];

/** @type {readonly import("../servers.mjs").Step[]} */
export const STEPS = [
  checkLiveStep({ expectedCodes: EXPECTED_CODES }),
  ...undecodedBasicSteps({
    expectedCodes: EXPECTED_CODES,
    reason: "LemonLDAP::NG doesn't decode what a client sends with `client_secret_basic`.",
  }),
  signInStep({
    key: "sign-in-claims",
    title:
      "A user signs in, and the ID token contains the claims that userinfo has (`oidcRPMetaDataOptionsIDTokenForceClaims`).",
    application: { client: { options: { IDTokenForceClaims: 1 } } },
  }),
  signInStep({
    key: "sign-in-offline",
    title: "A user signs in with `offline_access`, which the client may request.",
    application: { client: { offline: true } },
  }),
  sharedSecretStep(),
  consentRefusedStep({
    key: "consent",
    title:
      "A user who refuses consent is back in the application, signed out; the next time, the user consents and is signed in, also with `offline_access`.",
    error: "consent_required",
    application: { client: { consent: true, offline: true } },
    async refuse(page) {
      await signInAtProvider(page);
      await refuse(page);
    },
    consent: accept,
  }),
  groupsStep(),
  refreshRaceStep(),
  killedProcessStep(),
  lostResponseStep({
    key: "lost-response",
    title:
      "The response to a refresh is lost: the same token works again, and the session continues.",
    status: 200,
  }),
  secondBrowserStep(),
  maxAgeStep(),
  ...END_STEPS,
  ...LOGOUT_STEPS,
  signingKeyStep({
    key: "key-rotation",
    title:
      "LemonLDAP::NG's script `rotateOidcKeys` replaces the signing key, and the old one is gone at once: the next refresh and the next sign-in succeed.",
    replace: (server) => server.rotateKeys(),
  }),
  stoppedStep({ name: "the portal", key: "restarted" }),
];

/** @returns {import("../servers.mjs").Step} */
function sharedSecretStep() {
  return {
    key: "hs512",
    title:
      "If the client has HS512, which LemonLDAP::NG's manager sets by default, the sign-in ends on idpauth's page with `sign_in_refused`, and the log says `id_token_alg`.",
    run: (stage) =>
      stage.withApplication(
        { client: { options: { IDTokenSignAlg: "HS512" } } },
        async ({ newTab, origin, log }) => {
          const { page } = await newTab();
          await page.goto(`${origin}/guarded`);
          await signInAtProvider(page);
          await page.waitForURL((url) => url.origin === origin);
          const shown = await page.locator("body").innerText();
          if (!shown.includes("sign_in_refused")) return `the page shows ${shown.slice(0, 200)}`;
          const { details } = log().find(({ code }) => code === "callback_failed") ?? {};
          const reason = details?.["reason"];
          return reason === "id_token_alg" ? undefined : `the log says ${String(reason)}`;
        },
      ),
  };
}
