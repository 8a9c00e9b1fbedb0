// The providers from npm: oidc-provider in eight configurations, and better-auth.
import path from "node:path";
import { readJson } from "../../run.mjs";
import { CONFIGURATIONS } from "./configurations.mjs";
import { runConfigurations } from "./run.mjs";

const { packages } = /** @type {{ packages: Record<string, { version: string }> }} */ (
  readJson(path.join(import.meta.dirname, "package-lock.json"))
);

export const oidcProvider = serverOf(
  "oidc-provider",
  'Each configuration has a process of its own. Some providers send no ID token in the response to a refresh. The configuration "No ID token on refresh" imitates them.',
);
export const betterAuth = serverOf(
  "better-auth",
  `better-auth runs with its plugin, @better-auth/oauth-provider ${versionOf("@better-auth/oauth-provider")}, and signs with EdDSA.`,
);

/** @param {string} name of the package */
function versionOf(name) {
  return packages[`node_modules/${name}`]?.version ?? "unknown";
}

/**
 * @param {"better-auth" | "oidc-provider"} name
 * @param {string} notes
 * @returns {import("../servers.mjs").ServerWithOwnRun}
 */
function serverOf(name, notes) {
  const version = versionOf(name);
  const own = CONFIGURATIONS.filter(({ program }) => program === name);
  return {
    key: name,
    title: name,
    version,
    notes: `${notes} The steps use no browser.`,
    missing: () => Promise.resolve(undefined),
    run: async (isChosen) => ({ version, steps: await runConfigurations(own.filter(isChosen)) }),
  };
}
