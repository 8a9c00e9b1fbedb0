// The ends of a session: in the application, and at the portal.
import { eventually } from "../application/tab.mjs";
import { logoutAtProviderStep, logoutHereStep } from "../steps/logout.mjs";
import { notRevokedStep } from "../steps/revocation.mjs";
import { revokedStep } from "../steps/revoked.mjs";
import { accept, logOut } from "./pages.mjs";

/** Seconds that the portal's page has for loading the application's frame. */
const FRAME_SECONDS = 5;
/** Life of tokens that no step outlives, so that a session can't end with a refresh. */
const LONG = { IDTokenExpiration: 300, AccessTokenExpiration: 300 };
const withoutQuestion = logoutAtProviderStep({
  client: { options: { LogoutBypassConfirm: 1 } },
});

/** @type {readonly import("../servers.mjs").Step[]} */
export const LOGOUT_STEPS = [
  logoutHereStep(),
  notRevokedStep({
    title:
      "LemonLDAP::NG has no revocation endpoint, so the refresh token is still valid after a logout.",
  }),
  logoutAtProviderStep({}, accept),
  {
    ...withoutQuestion,
    key: "logout-without-question",
    title: `Without the portal's question (\`oidcRPMetaDataOptionsLogoutBypassConfirm\`): ${withoutQuestion.title}`,
  },
  revokedStep({
    key: "logged-out",
    title: "The user logs out at the portal: that session ends after the next expiry, no other.",
    revoke: ({ stage, page }) => logOut(page, stage.server),
  }),
  {
    ...revokedStep({
      key: "logged-out-offline",
      title:
        "With `offline_access`, the user logs out at the portal: that session ends after the next expiry.",
      revoke: ({ stage, page }) => logOut(page, stage.server),
      application: { client: { offline: true } },
    }),
    expected: "status 200 after the next expiry",
    reason: "LemonLDAP::NG keeps an offline session when the user logs out.",
  },
  {
    ...frontchannelStep({
      key: "frontchannel",
      title: "By front-channel: the user logs out at the portal, and the session ends at once.",
    }),
    expected: "the session continues",
    reason:
      "LemonLDAP::NG sends the user's ID as `sid`, which its ID tokens don't contain, so idpauth can't tell which session it means.",
  },
  frontchannelStep({
    key: "frontchannel-sid",
    title:
      "By front-channel, if the client's exported attributes give ID tokens the user's ID as `sid`: the user logs out at the portal, and all of this user's sessions end at once, no other user's.",
    options: { IDTokenForceClaims: 1 },
    claims: { sid: "uid" },
  }),
];

/**
 * @param {object} step
 * @param {string} step.key
 * @param {string} step.title
 * @param {Record<string, number>} [step.options] of the client
 * @param {Record<string, string>} [step.claims]
 * @returns {import("../servers.mjs").Step}
 */
function frontchannelStep({ key, title, options, claims = {} }) {
  return {
    key,
    title,
    run: (stage) =>
      stage.withApplication(
        {
          client: { frontchannel: true, options: { ...LONG, ...options }, claims },
          env: { IDP_FRONTCHANNEL_LOGOUT: "on" },
        },
        async ({ newTab }) => {
          const [tab, second, other] = [await newTab(), await newTab(), await newTab()];
          await tab.signIn();
          await second.signIn();
          await other.signIn("grace");
          await logOut(tab.page, stage.server);
          const hasEnded = async () => (await tab.fetch("/api/session")).status === 401;
          await eventually(hasEnded, FRAME_SECONDS).catch(() => undefined);
          if (!(await hasEnded())) return "the session continues";
          const [{ status: same }, { status: untouched }] = [
            await second.fetch("/api/session"),
            await other.fetch("/api/session"),
          ];
          return same === 401 && untouched === 200
            ? undefined
            : `status ${same} in the second browser, ${untouched} for another user`;
        },
      ),
  };
}
