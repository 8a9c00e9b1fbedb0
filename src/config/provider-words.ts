/** The names that the settings of one of several providers have in messages. */
import type { Finding } from "../errors.js";
import { variableOf } from "./provider-keys.js";
import { PROVIDER_SETTING_NAMES, SETTINGS, type SettingName } from "./setting-table.js";

/** Gives a text the names with which the settings of one provider are set. */
export type Words = (text: string) => string;

/** The environment variables of the settings that a provider may have of its own. */
export const PROVIDER_VARIABLES: readonly string[] = PROVIDER_SETTING_NAMES.map(
  (name) => SETTINGS[name].env,
);

const UNCHANGED: Words = (text) => text;

/**
 * Returns the words of one provider. A setting that it inherits keeps its name, since the variable
 * without the key is the one to change.
 *
 * @param key undefined: the application has one provider, without a key
 */
export function wordsOf(key: string | undefined, inherited: readonly SettingName[] = []): Words {
  if (key === undefined) return UNCHANGED;
  const own = new Map(
    PROVIDER_SETTING_NAMES.filter((name) => !inherited.includes(name)).map((name) => [
      SETTINGS[name].env,
      name,
    ]),
  );
  const options = new Set<string>(own.values());
  return (text) =>
    text
      .replace(/\b[A-Z][A-Z_]{4,}\b/g, (name) => (own.has(name) ? variableOf(key, name) : name))
      .replace(/\(option (\w+)\)/g, (whole, option: string) =>
        options.has(option) ? `(option providers.${key}.${option})` : whole,
      );
}

/** Has a text, such as the message of a log line, begin with its provider. */
export function withProvider(key: string | undefined, text: string): string {
  return key === undefined ? text : `Provider ${key}: ${text}`;
}

/** A finding about one provider. */
export function ofProvider(key: string | undefined, words: Words, finding: Finding): Finding {
  const { message, remedy } = finding;
  return { ...finding, message: withProvider(key, words(message)), remedy: words(remedy) };
}
