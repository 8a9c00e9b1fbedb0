/** What a row of the table of settings says, and what its option demands of it. */
import type { OptionsPerProvider } from "./provider-options.js";
import type { SettingKind } from "./setting-kinds.js";
import type { SettingOptions } from "./setting-options.js";

/**
 * One row of the table of settings, as it is written. Its key is the option's name in code, and the
 * comment of that option has the meaning.
 */
export interface WrittenRow {
  /**
   * The name in the environment. Default: that of the option with the prefix `IDP_`, such as
   * IDP_MOUNT_PATH for `mountPath`.
   */
  readonly env?: string;
  readonly kind: SettingKind<unknown>;
  /**
   * Null: unset, and the code may set it to null. Absent: required, or computed from other
   * settings.
   */
  readonly default?: unknown;
  /**
   * What several providers have. `own`: each one's, never the setting without a provider's key;
   * `inherited`: the setting without a key applies to each that has none of its own. Absent: all
   * share one.
   */
  readonly per?: "own" | "inherited";
  /** Never printed, and read without any change: `null` is a secret like any other. */
  readonly secret?: true;
  /** Never printed, but read like any other setting. */
  readonly hidden?: true;
  readonly required?: true;
  /**
   * Returns a remedy for a refused value that another setting accepts; undefined: the remedy of
   * E006.
   */
  readonly remedyFor?: (value: unknown) => string | undefined;
}

export interface SettingRow extends WrittenRow {
  readonly env: string;
}

/** Read into another form than an option has. */
type IsConverted =
  | "privateKey"
  | "certificate"
  | "clientCertificate"
  | "clientCertificateKey"
  | "providers"
  | "baseUrl";

/** What the option of a row demands of it. An option for each provider demands `per`. */
type RowOf<Name extends keyof SettingOptions> = WrittenRow & {
  readonly kind: SettingKind<
    Name extends IsConverted ? unknown : NonNullable<SettingOptions[Name]>
  >;
} & (null extends SettingOptions[Name]
    ? { readonly default: null }
    : { readonly default?: string | number | boolean | object }) &
  (Name extends keyof OptionsPerProvider
    ? { readonly per: "own" | "inherited" }
    : { readonly per?: never });

/** A row for each option. */
export type RowsOfOptions = { readonly [Name in keyof SettingOptions]-?: RowOf<Name> };

/** Returns the row of a setting that has a default. */
export function setting<
  Value,
  const Standard extends NoInfer<Value> | null,
  const More extends Omit<WrittenRow, "kind" | "default"> = object,
>(
  kind: SettingKind<Value>,
  standard: Standard,
  more?: More,
): { readonly kind: SettingKind<Value>; readonly default: Standard } & NoInfer<More> {
  return { kind, default: standard, ...(more as More) };
}
