import { deepFreeze } from "../record/json.js";
import { APPLICATION_SETTINGS } from "./application-setting-rows.js";
import { LOGOUT_SETTINGS } from "./logout-setting-rows.js";
import type { OptionsPerProvider } from "./provider-options.js";
import { PROVIDER_SETTINGS } from "./provider-setting-rows.js";
import { SESSION_SETTINGS } from "./session-setting-rows.js";
import type { SettingKind } from "./setting-kinds.js";
import type { RowsOfOptions, SettingRow, WrittenRow } from "./setting-row.js";

/**
 * A row of a setting whose values have the type `Value`. Null is among them if the setting can be
 * unset.
 */
interface TypedRow<Value> extends SettingRow {
  readonly kind: SettingKind<Value>;
}

type TypedRowOf<Row> = Row extends {
  readonly kind: SettingKind<infer Value>;
  readonly default: null;
}
  ? TypedRow<Value | null>
  : Row extends { readonly kind: SettingKind<infer Value> }
    ? TypedRow<Value>
    : never;

/**
 * Adds the names in the environment. Keeps the type of each setting's values in the type of the
 * table, and leaves the texts out.
 */
function typedRows<Rows extends RowsOfOptions>(
  rows: Rows,
): { readonly [Name in keyof Rows]: TypedRowOf<Rows[Name]> };
function typedRows(
  rows: Readonly<Record<string, WrittenRow>>,
): Readonly<Record<string, SettingRow>> {
  return Object.fromEntries(
    Object.entries(rows).map(([name, row]) => [name, { env: environmentName(name), ...row }]),
  );
}

function environmentName(option: string): string {
  return `IDP_${option.replace(/[A-Z]/g, "_$&").toUpperCase()}`;
}

const ROWS = deepFreeze(
  typedRows({
    ...SESSION_SETTINGS,
    ...LOGOUT_SETTINGS,
    ...PROVIDER_SETTINGS,
    ...APPLICATION_SETTINGS,
  }),
);

type Value<Name extends SettingName> =
  (typeof ROWS)[Name] extends TypedRow<infer Type> ? Type : never;

export type SettingName = keyof typeof ROWS;

/**
 * THE table of settings. Reading, validation, error messages and docs/reference/settings.md use it.
 */
export const SETTINGS: Readonly<Record<SettingName, SettingRow>> = ROWS;

/** The settings after reading: frozen, checked, complete. */
export type Settings = {
  readonly [Name in SettingName]: Value<Name>;
} & {
  /** SCOPE was not set, so the default may be extended by a scope that the provider supports. */
  readonly scopeIsDefault: boolean;
  /** The path of the endpoints as browsers see it: path prefix and mount path. */
  readonly publicPath: string;
};

/** The settings that each of several providers may have of its own. */
export type ProviderSettingName = keyof OptionsPerProvider;

export const PROVIDER_SETTING_NAMES = (Object.keys(SETTINGS) as SettingName[]).filter(
  (name): name is ProviderSettingName => SETTINGS[name].per !== undefined,
);

/** What one provider reads of the settings: its own, and some that all providers share. */
export type ProviderSettings = Pick<
  Settings,
  | ProviderSettingName
  | "scopeIsDefault"
  | "clockTolerance"
  | "debug"
  | "httpTimeout"
  | "refreshConcurrency"
  | "sessionAutoRefresh"
>;

/** The settings that all providers share. */
export type CommonSettings = Omit<Settings, ProviderSettingName | "scopeIsDefault">;

/** Each setting after reading. An unset setting has its default; a refused setting is missing. */
export type Values = { [Name in SettingName]?: Settings[Name] };

/** Those that all providers share. */
export type CommonValues = Omit<Values, ProviderSettingName>;
