/** How a finding is made of a row of the table of checks, and gets the names of settings. */
import type { Finding } from "../errors.js";
import { CHECKS, type CheckCode, type CheckRow } from "./check-table.js";
import { SETTING_NAMES, textWith, withProvider, type SettingText } from "./setting-names.js";

/** A finding whose texts don't know yet which provider's settings they name. */
export interface UnnamedFinding extends Pick<Finding, "code" | "severity"> {
  readonly message: SettingText;
  readonly remedy: SettingText;
}

/**
 * Makes a finding about the settings of a provider. Its message and remedy default to those of the
 * table, and never contain a secret.
 */
type UnnamedCheck<Code extends string> = (
  code: Code,
  message?: SettingText,
  remedy?: SettingText,
) => UnnamedFinding;

/** Returns what makes the findings of one table. */
export function checksFrom<Code extends string>(
  table: Readonly<Record<Code, CheckRow>>,
): UnnamedCheck<Code> {
  return (code, message, remedy) => {
    const { severity, cause, remedy: usual } = table[code];
    return { code, severity, message: message ?? cause, remedy: remedy ?? usual };
  };
}

/** Gives a finding the names that one provider's settings have, or those without a key. */
export function named(
  { message, remedy, ...what }: UnnamedFinding,
  names = SETTING_NAMES,
): Finding {
  return {
    ...what,
    message: withProvider(names.key, textWith(names, message)),
    remedy: textWith(names, remedy),
  };
}

/** Makes a finding about one provider. */
export const providerCheck = checksFrom(CHECKS);

/** Makes a finding about what all providers share. */
export function check(code: CheckCode, message?: SettingText, remedy?: SettingText): Finding {
  return named(providerCheck(code, message, remedy));
}
