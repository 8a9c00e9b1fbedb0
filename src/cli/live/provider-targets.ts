import {
  SETTINGS,
  type Environment,
  type ConfiguredProvider,
  type SettingName,
} from "../../config/read-settings.js";
import { SETTING_NAMES, type SettingNames } from "../../config/setting-names.js";
import { providerEnvironments } from "./provider-environments.js";
import { usableSettings, type UsableSettings } from "./usable-settings.js";

/** A provider to check. */
export interface ProviderTarget extends UsableSettings {
  /** Undefined: there is one provider, without a key. */
  readonly key: string | undefined;
  /** Names the settings in a message as this provider's are set. */
  readonly names: SettingNames;
}

/**
 * Returns the providers to check.
 *
 * @param providers those of a module's `auth` object, none if its settings contain errors.
 *   Undefined: those in the environment
 */
export function providerTargets(
  env: Environment,
  providers?: readonly ConfiguredProvider[],
): readonly ProviderTarget[] {
  if (providers === undefined)
    return providerEnvironments(env).map(({ key, names, env: own }) => ({
      key,
      names,
      ...usableSettings(own),
    }));
  const all = new Set(Object.keys(SETTINGS) as SettingName[]);
  if (providers.length === 0)
    return [
      {
        key: undefined,
        names: SETTING_NAMES,
        settings: usableSettings({}).settings,
        refused: all,
      },
    ];
  return providers.map((one) => ({ ...one, refused: new Set() }));
}
