import {
  isInherited,
  PROVIDER_SETTING_NAMES,
  providerKeys,
  variableOf,
} from "../../config/provider-keys.js";
import { SETTINGS, type Environment } from "../../config/read-settings.js";

/** The environment of one provider alone. */
export interface ProviderEnvironment {
  /** Undefined: there is one provider, without a key. */
  readonly key: string | undefined;
  readonly env: Environment;
}

/**
 * Returns an environment for each provider, in which its own variables have the names without its
 * key.
 */
export function providerEnvironments(env: Environment): readonly ProviderEnvironment[] {
  const keys = providerKeys.fromText(env[SETTINGS.providers.env] ?? "");
  if (keys === undefined) return [{ key: undefined, env }];
  const {
    [SETTINGS.providers.env]: _keys,
    [SETTINGS.defaultProvider.env]: _standard,
    ...common
  } = env;
  return keys.map((key) => {
    const own = PROVIDER_SETTING_NAMES.map((name) => {
      const { env: variable } = SETTINGS[name];
      return [
        variable,
        env[variableOf(key, variable)] ?? (isInherited(name) ? env[variable] : undefined),
      ];
    });
    return { key, env: { ...common, ...(Object.fromEntries(own) as Environment) } };
  });
}
