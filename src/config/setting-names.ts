/** The names of the settings in messages. Those of one of several providers have its key. */
import { variableOf } from "./provider-keys.js";
import { PROVIDER_SETTING_NAMES, SETTINGS, type SettingName } from "./setting-table.js";

/** Names the settings as one provider's are set. */
export interface SettingNames {
  /** Undefined: the application has one provider, without a key, or all providers share it. */
  readonly key: string | undefined;
  /** Both names of a setting, such as `IDP_ISSUER (option issuer)`. */
  readonly label: (name: SettingName) => string;
  /** The name in the environment, such as `IDP_ISSUER`. */
  readonly env: (name: SettingName) => string;
}

/** A text that may name settings. */
export type SettingText = string | ((names: SettingNames) => string);

/** The names without a provider's key. */
export const SETTING_NAMES: SettingNames = {
  key: undefined,
  label: (name) => `${SETTINGS[name].env} (option ${name})`,
  env: (name) => SETTINGS[name].env,
};

/** The environment variables of the settings that a provider may have of its own. */
export const PROVIDER_VARIABLES: readonly string[] = PROVIDER_SETTING_NAMES.map(
  (name) => SETTINGS[name].env,
);

/**
 * Returns the names of one provider's settings. A setting that it inherits keeps its name, since
 * the variable without the key is the one to change.
 *
 * @param key undefined: the application has one provider, without a key
 */
export function settingNamesOf(
  key: string | undefined,
  inherited: readonly SettingName[] = [],
): SettingNames {
  if (key === undefined) return SETTING_NAMES;
  const isOwn = (name: SettingName) =>
    SETTINGS[name].per !== undefined && !inherited.includes(name);
  const env = (name: SettingName) =>
    isOwn(name) ? variableOf(key, SETTINGS[name].env) : SETTINGS[name].env;
  const label = (name: SettingName) =>
    isOwn(name) ? `${env(name)} (option providers.${key}.${name})` : SETTING_NAMES.label(name);
  return { key, label, env };
}

/** The names of the settings of a provider from a source, as `settingNamesOf`. */
export function sourcedNamesOf(
  key: string | undefined,
  inherited: readonly SettingName[] = [],
): SettingNames {
  const isOwn = (name: SettingName) =>
    SETTINGS[name].per !== undefined && !inherited.includes(name);
  const own = (name: SettingName) => `\`${name}\``;
  return {
    key,
    label: (name) => (isOwn(name) ? own(name) : SETTING_NAMES.label(name)),
    env: (name) => (isOwn(name) ? own(name) : SETTING_NAMES.env(name)),
  };
}

export function textWith(names: SettingNames, text: SettingText): string {
  return typeof text === "string" ? text : text(names);
}

/** Has a text, such as the message of a log line, begin with its provider. */
export function withProvider(key: string | undefined, text: string): string {
  return key === undefined ? text : `Provider ${key}: ${text}`;
}
