import { SETTINGS, type Environment, type SettingName } from "../../config/read-settings.js";
import type { SettingNames } from "../../config/setting-names.js";
import { isObject } from "../../record/json.js";

/** Where an application's settings come from. */
export interface Given {
  /** Of `idpAuth`, unchecked. Undefined: not known. */
  readonly options?: unknown;
  readonly env: Environment;
}

/**
 * Names each setting as the application sets it, so that a message never makes a claim about a
 * variable that isn't set. `label` names the option or the variable, or, if neither is set, the
 * setting. `env`, for remedies, names what to change: the option that overrides the environment, or
 * the variable.
 *
 * @param names those of the provider
 */
export function givenNames(names: SettingNames, { options, env }: Given): SettingNames {
  const { key } = names;
  const optionOf = (name: SettingName): string | undefined => {
    const isOwn = key !== undefined && names.env(name) !== SETTINGS[name].env;
    const given = isOwn ? memberOf(memberOf(options, "providers"), key) : options;
    if (memberOf(given, name) === undefined) return undefined;
    return `the option \`${isOwn ? `providers.${key}.` : ""}${name}\``;
  };
  return {
    key,
    env: (name) => optionOf(name) ?? names.env(name),
    label(name) {
      const variable = names.env(name);
      const isSet = (env[variable] ?? "").trim() !== "";
      return optionOf(name) ?? (isSet ? variable : `the setting \`${name}\``);
    },
  };
}

function memberOf(object: unknown, name: string): unknown {
  return isObject(object) && Object.hasOwn(object, name) ? object[name] : undefined;
}
