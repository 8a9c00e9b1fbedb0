import { targetsAt } from "../../config/api-scopes.js";
import { SETTINGS, type Environment, type SettingName } from "../../config/read-settings.js";
import { SETTING_NAMES, type SettingNames } from "../../config/setting-names.js";
import type { TokenTarget } from "../../ports/provider.js";
import type { ModuleSettings } from "../module-settings.js";
import { givenNames } from "./given-names.js";
import { providerEnvironments } from "./provider-environments.js";
import { usableSettings, type UsableSettings } from "./usable-settings.js";

/** A provider to check. */
export interface ProviderTarget extends UsableSettings {
  /** Undefined: there is one provider, without a key. */
  readonly key: string | undefined;
  /** The APIs for whose own tokens it is asked. The environment names none. */
  readonly targets: readonly TokenTarget[];
  /** Names the settings as the application sets them. */
  readonly names: SettingNames;
}

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
