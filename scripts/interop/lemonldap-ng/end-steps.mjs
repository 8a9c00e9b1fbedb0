// What an administrator of LemonLDAP::NG ends.
import { restoredStep, revokedStep } from "../steps/revoked.mjs";
import { secondRefusalStep } from "../steps/second-refusal.mjs";

/** Ada's, as a condition, and the backend that stores it. */
const OFFLINE_SESSION = ["_session_uid=ada", "oidc"];
const OFFLINE = { client: { offline: true } };

/** @type {readonly import("../servers.mjs").Step[]} */
export const END_STEPS = [
  revokedStep({
    key: "session-removed",
    title:
      "An administrator deletes a user's session at the portal (`lemonldap-ng-sessions`): that session ends after the next expiry, no other.",
    revoke: ({ stage }) => stage.server.removeSessions("uid=ada"),
  }),
  {
    ...revokedStep({
      key: "offline-session-removed",
      title:
        "With `offline_access`, an administrator deletes a user's offline session: that session ends after the next expiry, no other.",
      revoke: ({ stage }) => stage.server.removeSessions(...OFFLINE_SESSION),
      application: OFFLINE,
    }),
    expected: "status 503 after the next expiry",
    reason:
      "LemonLDAP::NG answers the refresh with `invalid_request` instead of `invalid_grant`, which could also be a fault of the request. The user gets a link to sign in again.",
  },
  secondRefusalStep({
    title:
      "An administrator deletes a user's offline session: after the 503, the application's session ends with 401 when LemonLDAP::NG refuses the refresh token a second time, and another user's session has been refreshed in between.",
    otherUser: "grace",
    application: OFFLINE,
    revoke: (_page, server) => server.removeSessions(...OFFLINE_SESSION),
  }),
  userRemovedStep({
    key: "user-removed",
    title: "The user backend no longer knows a user: the session ends after the next expiry.",
    expected: "status 200 after the next expiry",
    reason:
      "Without `offline_access`, LemonLDAP::NG refreshes the tokens until the user's session at the portal ends.",
  }),
  userRemovedStep({
    key: "user-removed-offline",
    title:
      "With `offline_access`, the user backend no longer knows a user: the session ends after the next expiry.",
    application: OFFLINE,
  }),
];

/**
 * @param {Omit<import("../servers.mjs").Step, "run"> & Pick<Parameters<typeof revokedStep>[0], "application">} step
 * @returns {import("../servers.mjs").Step}
 */
function userRemovedStep({ key, title, application, ...result }) {
  const step = revokedStep({
    key,
    title,
    revoke: ({ stage }) => stage.server.restart({ removed: "ada" }),
    ...(application && { application }),
  });
  return restoredStep({ ...step, ...result }, (server) => server.restart());
}
