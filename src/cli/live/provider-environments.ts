import { usableKeys, variableOf } from "../../config/provider-keys.js";
import { PROVIDER_SETTING_NAMES, SETTINGS, type Environment } from "../../config/read-settings.js";
import { SETTING_NAMES, settingNamesOf, type SettingNames } from "../../config/setting-names.js";

/** The environment of one provider alone. */
export interface ProviderEnvironment {
  /** Undefined: there is one provider, without a key. */
  readonly key: string | undefined;
  readonly env: Environment;
  /** Names the settings in a message as this provider's are set. */
  readonly names: SettingNames;
}

/**
 * Returns an environment for each provider, in which its own variables have the names without its
 * key.
 */
export function providerEnvironments(env: Environment): readonly ProviderEnvironment[] {
  const keys = usableKeys(undefined, env[SETTINGS.providers.env]);
  if (keys.length === 0) return [{ key: undefined, env, names: SETTING_NAMES }];
  const {
    [SETTINGS.providers.env]: _keys,
    [SETTINGS.defaultProvider.env]: _standard,
    ...common
  } = env;
  return keys.map((key) => {
    const variables = PROVIDER_SETTING_NAMES.map((name) => {
      const { env: variable, per } = SETTINGS[name];
      const own = env[variableOf(key, variable)];
      const isOwn = (own ?? "").trim() !== "" || per === "own";
      return { name, variable, isOwn, value: isOwn ? own : env[variable] };
    });
    const values = Object.fromEntries(variables.map(({ variable, value }) => [variable, value]));
    const inherited = variables.filter(({ isOwn, value }) => !isOwn && value !== undefined);
    const names = settingNamesOf(
      key,
      inherited.map(({ name }) => name),
    );
    return { key, env: { ...common, ...values }, names };
  });
}
