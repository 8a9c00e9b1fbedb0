// A route that requires a recent authentication.
import { seconds } from "../application/tab.mjs";
import { asAda } from "./as-ada.mjs";

/** More than the `maxAge` of /fresh (30 s) and IDP_CLOCK_TOLERANCE. */
const TOO_OLD_SECONDS = 37;

/**
 * @param {import("../application/start.mjs").ApplicationOptions} [application]
 * @returns {import("../servers.mjs").Step}
 */
export function maxAgeStep(application = {}) {
  return {
    key: "max-age",
    title:
      "A route with `maxAge` sends the user to the provider, which asks for the password again, and lets the user in with the new `auth_time`.",
    run: asAda(application, async (tab, { origin }, stage) => {
      await seconds(TOO_OLD_SECONDS);
      await tab.page.goto(`${origin}/fresh`);
      if (tab.page.url().startsWith(`${origin}/`)) return "the provider doesn't ask again";
      await stage.server.signInAtProvider(tab.page, "ada");
      await tab.page.waitForURL((url) => url.origin === origin);
      if (new URL(tab.page.url()).pathname !== "/fresh")
        return `idpauth's page: ${await tab.page.locator("h1").innerText()}`;
      const shown = await tab.page.locator("#email").textContent();
      return shown === "ada@example.com" ? undefined : `the route shows ${shown}`;
    }),
  };
}
