import { targetsAt } from "../../config/api-scopes.js";
import { SETTINGS, type Environment, type SettingName } from "../../config/read-settings.js";
import { SETTING_NAMES } from "../../config/setting-names.js";
import type { ProviderTarget } from "../../live/check-provider.js";
import type { ModuleSettings } from "../module-settings.js";
import { givenNames } from "./given-names.js";
import { providerEnvironments } from "./provider-environments.js";
import { usableSettings } from "./usable-settings.js";

/**
 * Returns the providers to check.
 *
 * @param module of `--module`. Undefined: the settings are those in the environment
 */
export function providerTargets(
  env: Environment,
  module?: ModuleSettings,
): readonly ProviderTarget[] {
  if (module === undefined)
    return providerEnvironments(env).map(({ key, names, env: own }) => ({
      key,
      names: givenNames(names, { env }),
      // The environment names no APIs.
      targets: [],
      ...usableSettings(own),
    }));
  const { providers, options, apis } = module;
  const all = new Set(Object.keys(SETTINGS) as SettingName[]);
  if (providers.length === 0)
    return [
      {
        key: undefined,
        names: SETTING_NAMES,
        targets: [],
        settings: usableSettings({}).settings,
        refused: all,
      },
    ];
  const given = { options, env: options?.env ?? env };
  return providers.map((one) => ({
    ...one,
    names: givenNames(one.names, given),
    targets: targetsAt(apis?.values() ?? [], one.key),
    refused: new Set(),
  }));
}
