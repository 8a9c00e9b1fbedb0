// Steps for both apps of the Django project.
import { consentRefusedStep } from "../steps/consent-refused.mjs";
import { restoredStep, revokedStep } from "../steps/revoked.mjs";
import { enterPassword, refuseConsent } from "./pages.mjs";

/** @returns {import("../servers.mjs").Step} */
export function refusedStep() {
  return consentRefusedStep({
    async refuse(page) {
      await enterPassword(page, "grace");
      await refuseConsent(page);
    },
  });
}

/**
 * @param {{ key: string, title: string }} step
 * @returns {import("../servers.mjs").Step}
 */
export function deactivatedStep(step) {
  return restoredStep(
    revokedStep({ ...step, revoke: ({ stage }) => stage.server.setActive("ada", false) }),
    (server) => server.setActive("ada", true),
  );
}
