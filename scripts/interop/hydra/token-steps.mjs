// What becomes of a session when Hydra refuses its tokens, changes its key, or is away.
import { withRecorder } from "../application/token-recorder.mjs";
import { stoppedStep } from "../steps/outage.mjs";
import { lostResponseStep, usedTokenStep } from "../steps/refresh-tokens.mjs";
import { revokedStep } from "../steps/revoked.mjs";
import { wrongStatusAfterExpiry } from "../status-after-expiry.mjs";
import { keyOf } from "../steps/signing-key.mjs";

/** @type {readonly import("../servers.mjs").Step[]} */
export const TOKEN_STEPS = [
  usedTokenStep({
    key: "reuse-by-thief",
    title:
      "Somebody sends a refresh token that has been used. Hydra revokes the chain, and the session ends with 401 at its next refresh.",
    status: 401,
  }),
  lostResponseStep({
    key: "lost-response",
    title:
      "The response to a refresh is lost, after Hydra has replaced the token. Hydra takes the next attempt for a theft, and the session ends with 401.",
    status: 401,
  }),
  revokedStep({
    key: "consent-revoked",
    title:
      "An administrator revokes the user's consent: the session ends with 401 at its next refresh, and another user's continues.",
    revoke: ({ stage, clientId }) =>
      stage.server.admin.revokeConsent({ subject: "ada", client: clientId }),
  }),
  {
    key: "new-signing-key",
    title:
      "Hydra gets a new signing key: idpauth fetches it when the next user signs in, whose ID tokens it then verifies.",
    run: (stage) =>
      withRecorder(stage, {}, async ({ newTab }, { issued }) => {
        await (await newTab()).signIn();
        const old = keyOf(issued.at(-1));
        await stage.server.admin.newSigningKey();
        const tab = await newTab();
        await tab.signIn("grace");
        if (keyOf(issued.at(-1)) === old) return "the sign-in still has the old key";
        return wrongStatusAfterExpiry(tab, 200);
      }),
  },
  {
    key: "new-signing-key-refresh",
    title:
      "Hydra gets a new signing key: a session from before refreshes, although Hydra then names the old key in `kid` (ory/hydra issue 3573).",
    run: (stage) => refreshWithNewKey(stage, { isOldRemoved: false }),
  },
  {
    key: "old-signing-key-removed",
    title:
      "Hydra gets a new signing key, and an administrator removes the old one: a session from before refreshes.",
    run: (stage) => refreshWithNewKey(stage, { isOldRemoved: true }),
  },
  stoppedStep({ name: "Hydra" }),
];

/**
 * @param {import("../servers.mjs").Stage} stage
 * @param {{ isOldRemoved: boolean }} options
 */
function refreshWithNewKey(stage, { isOldRemoved }) {
  return withRecorder(stage, {}, async ({ newTab }, { issued }) => {
    const { admin } = stage.server;
    const tab = await newTab();
    await tab.signIn();
    await admin.newSigningKey();
    if (isOldRemoved) await admin.removeSigningKey(keyOf(issued.at(-1)));
    return wrongStatusAfterExpiry(tab, 200);
  });
}
