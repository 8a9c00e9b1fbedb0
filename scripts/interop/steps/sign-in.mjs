// A sign-in, on the server's own pages, and what it says of the user.
import { checkLiveStep } from "./check-live.mjs";
import { asAda } from "./as-ada.mjs";

/** A secret that form encoding changes. */
const ENCODED_SECRET = "+ %2B:&=/?é";

/**
 * @param {object} step
 * @param {string} step.key
 * @param {string} step.title
 * @param {import("../application/start.mjs").ApplicationOptions} [step.application]
 * @returns {import("../servers.mjs").Step}
 */
export function signInStep({ key, title, application = {} }) {
  return {
    key,
    title,
    run: (stage) =>
      stage.withApplication(application, async ({ newTab }) => {
        const tab = await newTab();
        const before = await tab.fetch("/api/session");
        if (before.status !== 401) return `status ${before.status} before the sign-in`;
        await tab.signIn("ada");
        const shown = await tab.page.locator("#email").textContent();
        if (shown !== "ada@example.com") return `the guarded page shows ${shown}`;
        const { authenticated, user } = await tab.probe();
        if (authenticated !== true || user?.email !== "ada@example.com")
          return `the probe: authenticated ${authenticated}, email ${user?.email}`;
        await tab.untilExpired();
        const { status } = await tab.fetch("/api/session");
        return status === 200 ? undefined : `status ${status} after the first expiry`;
      }),
  };
}

/** @typedef {import("../servers.mjs").Step} Step */

/** @returns {Step} */
export function signInPostStep() {
  return signInStep({
    key: "sign-in-post",
    title: "A user signs in with `client_secret_post`.",
  });
}

/** @returns {Step} */
export function signInBasicStep() {
  return signInStep({
    key: "sign-in-basic",
    title: "A user signs in with `client_secret_basic`.",
    application: { client: { method: "client_secret_basic" } },
  });
}

/** @returns {Step} with the kinds of characters that application/x-www-form-urlencoded changes */
export function signInEncodedStep() {
  return signInStep({
    key: "sign-in-basic",
    title:
      "A user signs in with `client_secret_basic`, though client ID and secret have characters that form encoding changes.",
    application: {
      client: { method: "client_secret_basic", id: "interop: app+1", secret: ENCODED_SECRET },
    },
  });
}

/** @returns {Step} */
export function signInKeyStep() {
  return signInStep({
    key: "sign-in-key",
    title: "A user signs in with `private_key_jwt` (RS256).",
    application: { client: { method: "private_key_jwt" } },
  });
}

/** @returns {Step} */
export function signInPushedStep() {
  return signInStep({
    key: "sign-in-pushed",
    title: "A user signs in with a pushed authorization request (`IDP_PUSHED_REQUESTS=always`).",
    application: { env: { IDP_PUSHED_REQUESTS: "always" } },
  });
}

/**
 * @param {object} server that doesn't decode what a client sends with `client_secret_basic`
 * @param {readonly string[]} server.expectedCodes what `idpauth check --live` finds whatever is set
 * @param {string} server.reason
 * @returns {readonly Step[]}
 */
export function undecodedBasicSteps({ expectedCodes, reason }) {
  return [
    signInPostStep(),
    signInBasicStep(),
    signInStep({
      key: "sign-in-post-characters",
      title:
        "A user signs in with `client_secret_post`, though the secret has characters that form encoding changes.",
      application: { client: { secret: ENCODED_SECRET } },
    }),
    {
      ...checkLiveStep({
        expectedCodes: [...expectedCodes, "E109"],
        client: { method: "client_secret_basic", secret: ENCODED_SECRET },
      }),
      key: "basic-characters",
      title:
        "The provider accepts such a secret with `client_secret_basic`, and `idpauth check --live` says so.",
      expected: "client refused",
      reason,
    },
  ];
}

/**
 * @param {object} step
 * @param {string} step.title
 * @param {string} [step.email] what else the server says; default: nothing
 * @param {import("../application/start.mjs").ApplicationOptions} [step.application]
 * @returns {import("../servers.mjs").Step} for a server that says nothing of ada but `sub`
 */
export function bareSignInStep({ title, email: expected, application = {} }) {
  return {
    key: "sign-in-bare",
    title,
    run: asAda(application, async (tab) => {
      const { status, body } = await tab.fetch("/api/session");
      if (status !== 200) return `status ${status}`;
      const { sub, name, email } = body.claims;
      return sub !== undefined && name === undefined && email === expected
        ? undefined
        : `sub ${sub}, name ${name}, email ${email}`;
    }),
  };
}

/** @returns {import("../servers.mjs").Step} for a server at which only ada is in the group admins */
export function groupsStep() {
  return {
    key: "groups",
    title: "The `groups` claim opens a route for members of the group, and for nobody else.",
    run: (stage) =>
      stage.withApplication({}, async ({ newTab }) => {
        const [ada, grace] = [await newTab(), await newTab()];
        await ada.signIn("ada");
        await grace.signIn("grace");
        const [member, other] = [await ada.fetch("/admins"), await grace.fetch("/admins")];
        return member.status === 200 && other.status === 403
          ? undefined
          : `status ${member.status} for a member, ${other.status} for another user`;
      }),
  };
}
