// How a client proves who it is, and how a user consents.
import { execFile } from "node:child_process";
import { mkdtempSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { root } from "../../run.mjs";
import { checkLive } from "../steps/check-live.mjs";
import { signInStep } from "../steps/sign-in.mjs";
import { refuseConsent, signInAtProvider } from "./login-pages.mjs";

/** Every kind of character that application/x-www-form-urlencoded changes. */
const ENCODED = {
  method: "client_secret_basic",
  clientId: "interop: one+two %2F three/ü",
  secret: "p:ss w+rd %21 / ü & = ? #",
};

/** @typedef {import("../servers.mjs").Step} Step */

/** @type {readonly Step[]} */
export const CLIENT_STEPS = [
  signInStep({
    key: "sign-in-post",
    title: "A user signs in at the login application, and the client sends client_secret_post.",
  }),
  signInStep({
    key: "sign-in-basic",
    title: "A user signs in, and the client sends client_secret_basic.",
    application: { client: { method: "client_secret_basic" } },
  }),
  signInStep({
    key: "sign-in-basic-encoded",
    title:
      "A user signs in with client_secret_basic, and ID and secret contain colons, spaces, plus and percent signs: Hydra decodes them.",
    application: { client: ENCODED },
  }),
  {
    key: "sign-in-key",
    title:
      "A user signs in, and the client authenticates with the key that `idpauth keys` has made (private_key_jwt, its JWK set in Hydra).",
    run: async (stage) => {
      const application = await keyApplication(stage);
      return signInStep({ key: "", title: "", application }).run(stage);
    },
  },
  {
    key: "key-for-issuer",
    title:
      "Hydra accepts an assertion whose audience is the issuer, as most providers do (IDP_CLIENT_ASSERTION_AUDIENCE=issuer).",
    run: async (stage) => {
      const { env = {}, ...application } = await keyApplication(stage);
      const changed = { ...env, IDP_CLIENT_ASSERTION_AUDIENCE: "issuer" };
      return stage.withApplication({ ...application, env: changed }, async (running) => {
        const { facts } = await checkLive(running.env);
        return facts["client"] === "accepted" ? undefined : `client ${facts["client"]}`;
      });
    },
    expected: "client refused",
    reason:
      "Hydra only accepts the token endpoint's address as the audience, which is what idpauth sends to Hydra by default.",
  },
  {
    key: "consent-refused",
    title:
      "A user refuses the consent, sees the reason on a page of the application, and signs in with its button after all.",
    run: (stage) =>
      stage.withApplication({}, async ({ newTab, origin }) => {
        const { page } = await newTab();
        await page.goto(`${origin}/guarded`);
        await refuseConsent(page);
        const text = (await page.locator("body").textContent()) ?? "";
        if (!page.url().startsWith(origin))
          return `the browser is at ${new URL(page.url()).pathname}`;
        if (!text.includes("You did not give your consent")) return `the page shows: ${text}`;
        await page.getByRole("link", { name: "Sign in" }).click();
        await signInAtProvider(page);
        await page.goto(`${origin}/guarded`);
        const shown = await page.locator("#email").textContent();
        return shown === "ada@example.com" ? undefined : `the guarded page shows ${shown}`;
      }),
  },
];

/**
 * @param {import("../servers.mjs").Stage} stage
 * @returns {Promise<import("../application/start.mjs").ApplicationOptions>}
 */
async function keyApplication({ folder }) {
  const file = path.join(mkdtempSync(path.join(folder, "key-")), "client.pem");
  const command = path.join(root, "dist/cli/idpauth.js");
  const { stdout } = await promisify(execFile)(process.execPath, [
    command,
    "keys",
    `--file=${file}`,
  ]);
  const jwks = JSON.parse(stdout);
  return {
    client: { method: "private_key_jwt", jwks },
    env: { IDP_PRIVATE_KEY: `file:${file}` },
  };
}
