// How a client proves who it is.
import { checkLiveStep } from "../steps/check-live.mjs";
import {
  signInBasicStep,
  signInPostStep,
  signInPushedStep,
  signInStep,
} from "../steps/sign-in.mjs";

/** Every kind of character that application/x-www-form-urlencoded changes. */
const ENCODED = { secret: "+ %2B:&=/?é" };
const KEY = { method: "private_key_jwt" };

/** @type {readonly import("../servers.mjs").Step[]} */
export const CLIENT_STEPS = [
  {
    ...checkLiveStep({ expectedCodes: ["W103", "W108"] }),
    expected: "client null",
    reason:
      "Glewlwyd reads the refresh token before it checks the client, so its response is the same for every client.",
  },
  signInPostStep(),
  signInStep({
    key: "sign-in-post-characters",
    title:
      "A user signs in with `client_secret_post`, though client ID and secret have characters that form encoding changes.",
    application: { client: { ...ENCODED, id: "interop: app+1" } },
  }),
  signInBasicStep(),
  {
    key: "sign-in-basic-characters",
    title:
      "A user signs in with `client_secret_basic`, though client ID and secret have characters that form encoding changes.",
    run: (stage) =>
      signInOrError(stage, {
        client: { ...ENCODED, id: "interop: app+2", method: "client_secret_basic" },
      }),
    expected: "provider_misconfigured: unauthorized_client",
    reason: "Glewlwyd doesn't decode what a client sends with `client_secret_basic`.",
  },
  signInStep({
    key: "sign-in-key",
    title:
      "A user signs in with `private_key_jwt` (RS256) and `IDP_CLIENT_ASSERTION_AUDIENCE=endpoint`.",
    application: { client: KEY, env: { IDP_CLIENT_ASSERTION_AUDIENCE: "endpoint" } },
  }),
  {
    key: "key-for-issuer",
    title:
      "A user signs in with `private_key_jwt` (RS256), and the assertion's audience is the issuer, as by default.",
    run: (stage) => signInOrError(stage, { client: KEY }),
    expected: "provider_misconfigured: http_403",
    reason: "Glewlwyd only accepts the address of the endpoint that receives the assertion.",
  },
  signInPushedStep(),
];

/**
 * @param {import("../servers.mjs").Stage} stage
 * @param {import("../application/start.mjs").ApplicationOptions} application
 */
function signInOrError(stage, application) {
  return stage.withApplication(application, async ({ newTab, origin, log }) => {
    const { page } = await newTab();
    await page.goto(`${origin}/guarded`);
    await stage.server.signInAtProvider(page);
    await page.waitForURL((url) => url.origin === origin);
    const error = log().find(({ level }) => level === "error");
    return error && `${error.code}: ${error.details?.["reason"]}`;
  });
}
