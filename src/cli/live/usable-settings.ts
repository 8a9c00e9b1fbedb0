import { randomBytes } from "node:crypto";
import { readSettings, SETTINGS, type Environment, type SettingName, type Settings } from "../../config/read-settings.js";

/** The settings as far as they can be used. */
export interface UsableSettings {
  readonly settings: Settings;
  /** Missing, or refused by the startup checks; what `settings` says of these means nothing. */
  readonly refused: ReadonlySet<SettingName>;
}

/** Decides what others may be, so it is read first. */
const NAMES = ["debug", ...(Object.keys(SETTINGS) as SettingName[]).filter((name) => name !== "debug")] as const;

/** One mistake must not keep the rest from being checked: takes one setting after the other, and leaves out what is refused. */
export function usableSettings(env: Environment): UsableSettings {
  const refused = new Set<SettingName>();
  let taken: Environment = placeholders();
  for (const name of NAMES) {
    const { env: variable, required } = SETTINGS[name];
    const value = env[variable];
    if (value === undefined) {
      if (required === true) refused.add(name);
      continue;
    }
    const tried = { ...taken, [variable]: value };
    if (readSettings({}, tried).settings === undefined) refused.add(name);
    else taken = tried;
  }
  const { settings } = readSettings({}, taken);
  if (settings === undefined) throw new TypeError("The settings that were taken one by one cannot be read together.");
  return { settings, refused };
}

/** For what is required; never sent anywhere. */
function placeholders(): Environment {
  return Object.fromEntries(
    NAMES.filter((name) => SETTINGS[name].required === true).map((name) => [SETTINGS[name].env, randomBytes(32).toString("base64url")]),
  );
}
