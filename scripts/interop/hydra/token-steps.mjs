// What becomes of a session when Hydra refuses its tokens, changes its key, or is away.
import { eventually } from "../application/tab.mjs";
import { revokedStep } from "../steps/revoked.mjs";
import { withRecorder } from "./token-recorder.mjs";

/** Seconds after which a session must answer with 200 or 401, and no longer with 503. */
const SETTLED_SECONDS = 40;

/** @typedef {import("../application/tab.mjs").Tab} Tab */

/** @type {readonly import("../servers.mjs").Step[]} */
export const TOKEN_STEPS = [
  {
    key: "reuse-by-thief",
    title:
      "Somebody sends a refresh token that has been used. Hydra revokes the chain, and the session ends with 401 at its next refresh.",
    run: (stage) =>
      withRecorder(stage, {}, async ({ newTab, env }, { issued }) => {
        const tab = await newTab();
        await tab.signIn();
        await tab.untilExpired();
        await tab.fetch("/api/session");
        const { status, error } = await refreshByHand(stage.server.issuer, env, issued[0]);
        if (status !== 400 || error !== "invalid_grant")
          return `Hydra answers ${status} ${error} to the used token`;
        return settledAt(tab, 401);
      }),
  },
  {
    key: "lost-response",
    title:
      "The response to a refresh is lost, after Hydra has replaced the token. Hydra takes the next attempt for a theft, and the session ends with 401.",
    run: (stage) =>
      withRecorder(stage, {}, async ({ newTab }, { loseNext }) => {
        const tab = await newTab();
        await tab.signIn();
        await tab.untilExpired();
        loseNext();
        return settledAt(tab, 401);
      }),
  },
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
        return settledAt(tab, 200);
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
  {
    key: "restart",
    title:
      "While Hydra is stopped, the response is 503 with Retry-After; once it is back, the same session works again.",
    run: (stage) =>
      stage.withApplication({}, async ({ newTab }) => {
        const tab = await newTab();
        await tab.signIn();
        await tab.untilExpired();
        await stage.server.stop();
        const { status, headers } = await tab.fetch("/api/session").finally(stage.server.restart);
        if (status !== 503 || headers["retry-after"] === undefined)
          return `status ${status} while Hydra is stopped`;
        return settledAt(tab, 200);
      }),
  },
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
    return settledAt(tab, 200);
  });
}

/**
 * @param {Tab} tab
 * @param {200 | 401} expected
 * @returns {Promise<string | undefined>} what the session answers instead, once its tokens have
 *   expired and it isn't 503
 */
async function settledAt(tab, expected) {
  await tab.untilExpired();
  let status = 503;
  await eventually(async () => {
    ({ status } = await tab.fetch("/api/session"));
    return status !== 503;
  }, SETTLED_SECONDS).catch(() => undefined);
  return status === expected ? undefined : `status ${status}`;
}

/**
 * @param {string} issuer
 * @param {Record<string, string>} env
 * @param {import("./token-recorder.mjs").Issued | undefined} issued
 * @returns {Promise<{ status: number, error: string | undefined }>}
 */
async function refreshByHand(issuer, env, issued) {
  const body = new URLSearchParams({
    grant_type: "refresh_token",
    refresh_token: issued?.refresh_token ?? "",
    client_id: env["IDP_CLIENT_ID"] ?? "",
    client_secret: env["IDP_CLIENT_SECRET"] ?? "",
  });
  const response = await fetch(`${issuer}/oauth2/token`, { method: "POST", body });
  const { error } = /** @type {{ error?: string }} */ (await response.json());
  return { status: response.status, error };
}

/**
 * @param {import("./token-recorder.mjs").Issued | undefined} issued
 * @returns {string} the `kid` of its ID token
 */
function keyOf(issued) {
  const [header = ""] = (issued?.id_token ?? "").split(".");
  return JSON.parse(Buffer.from(header, "base64url").toString("utf8")).kid;
}
