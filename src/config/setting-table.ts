import { deepFreeze } from "../record/json.js";
import { APPLICATION_SETTINGS } from "./application-setting-rows.js";
import { PROVIDER_SETTINGS } from "./provider-setting-rows.js";
import { SESSION_SETTINGS } from "./session-setting-rows.js";
import type { SettingKind, SettingRow } from "./setting-kinds.js";

const ROWS = deepFreeze({ ...SESSION_SETTINGS, ...PROVIDER_SETTINGS, ...APPLICATION_SETTINGS });

export type SettingName = keyof typeof ROWS;

/** THE table of settings. Reading, validation, error messages and docs/reference/settings.md use it. */
export const SETTINGS: Readonly<Record<SettingName, SettingRow>> = ROWS;

type ValueOf<Row extends SettingRow> =
  (Row["kind"] extends SettingKind<infer Value> ? Value : never) | (Row extends { readonly default: null } ? null : never);

/** The settings after reading: frozen, checked, complete. */
export type Settings = {
  readonly [Name in SettingName]: ValueOf<(typeof ROWS)[Name]>;
} & {
  /** SCOPE was not set, so the default may be extended by a scope that the provider supports. */
  readonly scopeIsDefault: boolean;
  /** The path of the endpoints as browsers see it: path prefix and mount path. */
  readonly publicPath: string;
};

/**
 * The settings that the code gives. They override the environment. `undefined` uses the environment; `null` unsets the setting.
 * See docs/reference/settings.md.
 */
export type SettingOptions = {
  readonly [Name in SettingName]?: (Name extends "scope" ? readonly string[] | string : ValueOf<(typeof ROWS)[Name]>) | undefined;
};

/** Each setting after reading. An unset setting has its default; a refused setting is missing. */
export type Values = { [Name in SettingName]?: Settings[Name] };

/** Returns both names of a setting, for a message. */
export function label(name: SettingName): string {
  return `${SETTINGS[name].env} (option ${name})`;
}
