// What Canaille is asked for.
import { checkLiveStep } from "../steps/check-live.mjs";
import { consentRefusedStep } from "../steps/consent-refused.mjs";
import { logoutAtProviderStep, logoutHereStep } from "../steps/logout.mjs";
import { killedProcessStep, refreshRaceStep } from "../steps/refresh-race.mjs";
import { enterPassword } from "./pages.mjs";
import { revocationStep } from "../steps/revocation.mjs";
import { revokedStep } from "../steps/revoked.mjs";
import { groupsStep, signInPostStep, signInStep } from "../steps/sign-in.mjs";
import { maxAgeStep } from "../steps/step-up.mjs";

/** @type {readonly import("../servers.mjs").Step[]} */
export const steps = [
  checkLiveStep({ expectedCodes: ["W103"] }),
  signInPostStep(),
  signInStep({
    key: "sign-in-basic",
    title:
      "A user signs in with `client_secret_basic`, though the secret has characters that form encoding changes.",
    application: {
      client: { method: "client_secret_basic", id: "interop:app+1", secret: "+%2B:&=/?é" },
    },
  }),
  {
    ...checkLiveStep({
      expectedCodes: ["W103"],
      client: { method: "client_secret_basic", id: "interop-space", secret: "with a space" },
    }),
    key: "basic-space",
    title:
      "The provider accepts a secret with a space, sent with `client_secret_basic`, although Authlib, which Canaille is built on, doesn't decode `+` as a space: idpauth sends `%20`.",
  },
  signInStep({
    key: "sign-in-key",
    title:
      "A user signs in with `private_key_jwt` (RS256), with `IDP_CLIENT_ASSERTION_AUDIENCE=token_endpoint`.",
    application: {
      client: { method: "private_key_jwt" },
      env: { IDP_CLIENT_ASSERTION_AUDIENCE: "token_endpoint" },
    },
  }),
  consentRefusedStep({
    async refuse(page) {
      await enterPassword(page, "grace");
      await page.getByRole("button", { name: "Deny" }).click();
    },
  }),
  groupsStep(),
  refreshRaceStep({}, 1),
  killedProcessStep(),
  maxAgeStep(),
  revokedStep({
    key: "consent-revoked",
    title:
      "A user takes back the consent on the provider's page: that session ends after the next expiry, no other.",
    revoke: takeConsentBack,
  }),
  userLockedStep(),
  logoutHereStep(),
  revocationStep({
    title:
      "With `client_secret_basic`, a logout revokes the refresh token, as the provider's own record shows.",
    application: { client: { method: "client_secret_basic" } },
  }),
  revocationStep({
    key: "revocation-post",
    title:
      "With `client_secret_post`, a logout revokes the refresh token, although Canaille's revocation endpoint accepts only `client_secret_basic`, as its discovery document says.",
  }),
  logoutAtProviderStep(),
];

/** @param {import("../steps/revoked.mjs").Given} given */
async function takeConsentBack({ stage, page }) {
  const { origin } = new URL(page.url());
  await page.goto(`${stage.server.issuer}/consent/`);
  const card = page.locator(".card", { hasText: origin });
  await card.getByText("Revoke access").click();
  await card.getByText("Restore access").waitFor();
}

/** @returns {import("../servers.mjs").Step} */
function userLockedStep() {
  return {
    key: "user-locked",
    title: "The provider locks a user: the session ends after the next expiry.",
    expected: "status 503 after the next expiry",
    reason:
      "Authlib answers the refresh with `invalid_request` instead of `invalid_grant`. idpauth therefore doesn't end the session, but doesn't let the user in either.",
    run: (stage) =>
      stage.withApplication({}, async ({ newTab }) => {
        const tab = await newTab();
        await tab.signIn("locked");
        const { canaille } = stage.server;
        const [{ id }] = JSON.parse(await canaille(["get", "user", "--user-name", "locked"]));
        await canaille(["set", "user", id, "--lock-date", "2026-01-01T00:00:00+00:00"]);
        await tab.untilExpired();
        const { status } = await tab.fetch("/api/session");
        return status === 401 ? undefined : `status ${status} after the next expiry`;
      }),
  };
}
