import { kindOf, kindOfText, quoted } from "./describe-value.js";
import { providerCheck, type UnnamedFinding } from "./findings.js";
import { textWith, type SettingText } from "./setting-names.js";
import type { SettingRow } from "./setting-row.js";

/** A value, or the finding about a refused one. Neither: the setting is unset. */
export interface Reading {
  readonly value?: unknown;
  readonly finding?: UnnamedFinding;
}

export const UNSET: Reading = {};

/** One setting, as code and environment give it. */
export interface GivenSetting {
  readonly row: SettingRow;
  readonly name: string;
  /** Both of its names. */
  readonly label: SettingText;
  readonly option: unknown;
  readonly variable: unknown;
}

/**
 * Reads one setting: from the code, unless its value there is undefined; otherwise from the
 * environment.
 */
export function readSetting(given: GivenSetting): Reading {
  const { row, option, variable } = given;
  if (option !== undefined) {
    if (option === null && (row.default === null || row.required)) return UNSET;
    if (row.required && typeof option === "string" && option.trim() === "") return UNSET;
    return reading(given, option, { value: row.kind.fromCode(option), where: "in code" });
  }
  if (variable === undefined) return UNSET;
  // A plain object in place of `process.env` may contain other values than text.
  if (typeof variable !== "string")
    return reading(given, variable, { value: undefined, where: "in the environment" });
  const text = row.secret ? variable : variable.trim();
  if (text.trim() === "" || (!row.secret && /^(?:none|null)$/i.test(text))) return UNSET;
  return reading(given, text, { value: row.kind.fromText(text), where: "in the environment" });
}

/** @param read what the setting's kind has read; undefined: it refuses the written value */
function reading(
  { row, name, label }: GivenSetting,
  written: unknown,
  read: { readonly value: unknown; readonly where: "in code" | "in the environment" },
): Reading {
  const { value, where } = read;
  // An empty SCOPE means unset, in the environment and in code.
  if (value !== undefined)
    return name === "scope" && Array.isArray(value) && value.length === 0 ? UNSET : { value };
  const isText = where === "in the environment" && typeof written === "string";
  const thing = isText ? kindOfText(written) : kindOf(written);
  const shown = row.secret || row.hidden ? "" : quoted(written);
  const allowed = where === "in code" ? allowedInCode(row) : row.kind.allowed;
  const message: SettingText = (names) =>
    `${textWith(names, label)} is ${thing}${shown && ` (${shown})`} ${where}; allowed: ${allowed}.`;
  return { finding: providerCheck("E006", message, row.remedyFor?.(written)) };
}

function allowedInCode(row: SettingRow): string {
  const allowed = row.kind.allowedInCode ?? row.kind.allowed;
  return row.default === null ? `${allowed}; or null` : allowed;
}
