// A signing key that the provider replaces.
import { withRecorder } from "../application/token-recorder.mjs";
import { wrongStatusAfterExpiry } from "../status-after-expiry.mjs";

/**
 * @param {object} step
 * @param {string} step.key
 * @param {string} step.title
 * @param {(server: any) => Promise<void>} step.replace from then on, the server signs with a new key
 * @returns {import("../servers.mjs").Step}
 */
export function signingKeyStep({ key, title, replace }) {
  return {
    key,
    title,
    run: (stage) =>
      withRecorder(stage, {}, async ({ newTab }, { issued }) => {
        const tab = await newTab();
        await tab.signIn("ada");
        const old = keyOf(issued.at(-1));
        await replace(stage.server);
        const wrong = await wrongStatusAfterExpiry(tab, 200);
        if (wrong !== undefined) return `${wrong} at the next refresh`;
        await (await newTab()).signIn("grace");
        return keyOf(issued.at(-1)) === old ? "the sign-in still has the old key" : undefined;
      }),
  };
}

/**
 * @param {object} server with `replaceKey`
 * @param {string} server.gets who gets the key, such as "Spring gets a new signing key"
 * @param {string} server.publishes how the old one is still published
 * @returns {readonly import("../servers.mjs").Step[]}
 */
export function keyRotationSteps({ gets, publishes }) {
  const after = "the next refresh and the next sign-in succeed";
  return [
    signingKeyStep({
      key: "key-rotation",
      title: `${gets}, and ${publishes}: ${after}.`,
      replace: (server) => server.replaceKey("old key published"),
    }),
    signingKeyStep({
      key: "key-rotation-removed",
      title: `${gets}, and the old one is gone at once: ${after}.`,
      replace: (server) => server.replaceKey("old key removed"),
    }),
  ];
}

/**
 * @param {import("../application/token-recorder.mjs").Issued | undefined} issued
 * @returns {string} the `kid` of its ID token
 */
export function keyOf(issued) {
  const [header = ""] = (issued?.id_token ?? "").split(".");
  return JSON.parse(Buffer.from(header, "base64url").toString("utf8")).kid;
}
