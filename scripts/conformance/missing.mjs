// Says what a run of the suite lacks on this machine, and how to get it.
import { missingChromium } from "../interop/browser.mjs";
import { missingForBuild } from "./suite-build.mjs";
import { missingCheckout } from "./suite-checkout.mjs";

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<string[]>} a sentence for each part that is missing
 */
export async function missingParts(env) {
  const parts = [await missingCheckout(env), ...(await missingForBuild(env)), missingChromium()];
  return parts.filter((part) => part !== undefined);
}
