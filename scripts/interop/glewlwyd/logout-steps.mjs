// The ends of a session: in the application, at Glewlwyd, and from Glewlwyd.
import { withRecorder } from "../application/token-recorder.mjs";
import { logoutAtProviderStep, logoutFromProviderStep, logoutHereStep } from "../steps/logout.mjs";
import { revocationStep } from "../steps/revocation.mjs";
import { withSettings } from "../steps/with-settings.mjs";
import { confirmLogout, logOutAtGlewlwyd } from "./pages.mjs";

/** @typedef {import("../servers.mjs").Step} Step */
/** @typedef {import("../application/start.mjs").ApplicationOptions} ApplicationOptions */

const BACK_CHANNEL = {
  client: { logout: "back-channel" },
  env: { IDP_BACKCHANNEL_LOGOUT: "on" },
};
const FRONT_CHANNEL = {
  client: { logout: "front-channel" },
  env: { IDP_FRONTCHANNEL_LOGOUT: "on" },
};
/** Longer than a step waits for the provider's notice, so that no refresh ends the session first. */
const LONG_LIFE = { "access-token-duration": 60 };

/** @type {readonly Step[]} */
export const LOGOUT_STEPS = [
  logoutHereStep(),
  revocationStep({
    title:
      "A logout revokes the refresh token, as the provider's own record shows. The client is registered for `client_secret_post` and `client_secret_basic`.",
    application: { client: { methods: ["client_secret_post", "client_secret_basic"] } },
  }),
  {
    ...revocationStep({
      key: "revocation-post",
      title:
        "A client that is registered only for `client_secret_post` revokes its refresh token with a logout.",
    }),
    expected: "the revocation fails with status 401, undefined",
    reason:
      "Glewlwyd advertises only `client_secret_basic` for its revocation endpoint, so idpauth uses it, but Glewlwyd refuses it to a client that isn't registered for it.",
  },
  revocationStep({
    key: "revocation-key",
    title:
      "A client with `private_key_jwt` and `IDP_CLIENT_ASSERTION_AUDIENCE=endpoint` revokes its refresh token with a logout.",
    application: {
      client: { method: "private_key_jwt" },
      env: { IDP_CLIENT_ASSERTION_AUDIENCE: "endpoint" },
    },
  }),
  logoutAtProviderStep({}, confirmLogout),
  {
    ...withSettings(
      LONG_LIFE,
      endSessionStep({
        key: "logout-back-channel",
        title:
          "A logout at Glewlwyd's end session endpoint ends the session of that browser by back-channel logout, and not the user's session in another browser.",
        application: BACK_CHANNEL,
      }),
    ),
    expected: "the session continues: logout_token_exp",
    reason:
      "Glewlwyd's logout token has no `exp`, which Back-Channel Logout 1.0 requires. Glewlwyd also revokes the session's tokens, so the session can't be refreshed any more.",
  },
  endSessionStep({
    key: "logout-front-channel",
    title:
      "A logout at Glewlwyd's end session endpoint ends the session of that browser by front-channel logout, and not the user's session in another browser.",
    application: FRONT_CHANNEL,
  }),
  {
    ...withSettings(
      LONG_LIFE,
      logoutFromProviderStep({
        key: "logout-button",
        title:
          "With front-channel logout, the button “Logout” on Glewlwyd's own page ends the session of that browser.",
        logOut: logOutAtGlewlwyd,
        application: FRONT_CHANNEL,
      }),
    ),
    expected: "the session continues: undefined",
    reason: "Glewlwyd tells applications only of logouts at its end session endpoint.",
  },
];

/**
 * @param {{ key: string, title: string, application: ApplicationOptions }} step
 * @returns {Step} for a logout that names the ID token of the first sign-in, as an application's does
 */
function endSessionStep(step) {
  return {
    ...step,
    run: (stage) => {
      /** @type {readonly import("../application/token-recorder.mjs").Issued[]} */
      let tokens = [];
      /** @type {import("../servers.mjs").Stage} */
      const recorded = {
        ...stage,
        withApplication: (options, use) =>
          withRecorder(stage, options, async (application, { issued }) => {
            tokens = issued;
            return (await use(application)) ?? undefined;
          }),
      };
      const { run } = logoutFromProviderStep({
        ...step,
        async logOut(page, { issuer }) {
          await page.goto(`${issuer}/end_session?id_token_hint=${tokens[0]?.id_token}`);
          await confirmLogout(page);
          await page.getByText("You are disconnected").waitFor();
        },
      });
      return run(recorded);
    },
  };
}
