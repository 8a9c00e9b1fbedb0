import {
  SETTINGS,
  type Environment,
  type ProviderSettings,
  type SettingName,
} from "../../config/read-settings.js";
import { providerEnvironments } from "./provider-environments.js";
import { usableSettings, type UsableSettings } from "./usable-settings.js";

/** A provider to check. */
export interface ProviderTarget extends UsableSettings {
  /** Undefined: there is one provider, without a key. */
  readonly key: string | undefined;
}

/**
 * Returns the providers to check.
 *
 * @param providers those of a module's `auth` object, none if its settings contain errors.
 *   Undefined: those in the environment
 */
export function providerTargets(
  env: Environment,
  providers?: readonly ProviderSettings[],
): readonly ProviderTarget[] {
  if (providers === undefined)
    return providerEnvironments(env).map((one) => ({ key: one.key, ...usableSettings(one.env) }));
  const all = new Set(Object.keys(SETTINGS) as SettingName[]);
  if (providers.length === 0)
    return [{ key: undefined, settings: usableSettings({}).settings, refused: all }];
  return providers.map(({ key, settings }) => ({ key, settings, refused: new Set() }));
}
