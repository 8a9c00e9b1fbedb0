import { check } from "./check-table.js";
import { kindOf, kindOfText, quoted } from "./describe-value.js";
import type { Finding } from "../errors.js";
import { defaultDocumentHosts } from "./provider-hosts.js";
import { nearestName, nearlySameName } from "./nearest-name.js";
import type { SettingRow } from "./setting-kinds.js";
import { deepFreeze } from "../record/json.js";
import { lifetimeFindings, settingFindings } from "./setting-findings.js";
import { label, SETTINGS, type SettingName, type SettingOptions, type Settings, type Values } from "./setting-table.js";

export { SETTINGS, type SettingName, type SettingOptions, type Settings };

const DAY = 24 * 60 * 60;
const DEFAULT_SESSION_TTL = 14 * DAY;

/** The environment in the form of `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface SettingsResult {
  /** Undefined if and only if `findings` contains an error. */
  readonly settings: Settings | undefined;
  readonly findings: readonly Finding[];
}

type Reading =
  | { readonly outcome: "value"; readonly value: unknown }
  | { readonly outcome: "unset" }
  | { readonly outcome: "refused"; readonly finding: Finding };

const UNSET: Reading = { outcome: "unset" };

/**
 * Reads all settings and reports all mistakes at once. Pure; never throws, for any input.
 *
 * @param otherOptions names of options that are not settings; they are skipped, and suggested for misspelt names
 */
export function readSettings(options: SettingOptions = {}, env: Environment = {}, otherOptions: readonly string[] = []): SettingsResult {
  const findings: Finding[] = unknownOptions(options, otherOptions);
  const values: Record<string, unknown> = {};
  const unset = new Set<SettingName>();
  for (const name of SETTING_NAMES) {
    const reading = readSetting(name, own(options, name), own(env, SETTINGS[name].env));
    if (reading.outcome === "refused") findings.push(reading.finding);
    else if (reading.outcome === "unset") {
      unset.add(name);
      values[name] = SETTINGS[name].default;
    } else values[name] = reading.value;
  }
  findings.push(...misspeltVariables(env));
  const read = values as Values;
  findings.push(...settingFindings(read, unset));
  if (findings.some((finding) => finding.severity === "error")) return { settings: undefined, findings };
  const settings = deepFreeze({
    ...complete(read as Settings),
    scopeIsDefault: unset.has("scope"),
    publicPath: publicPathOf(read as Settings),
  });
  return { settings, findings: [...findings, ...lifetimeFindings(settings)] };
}

function publicPathOf({ pathPrefix, mountPath }: Settings): string {
  return `${pathPrefix}${mountPath}`;
}

const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

/** Adds the defaults that depend on other settings. */
function complete(values: Settings): Settings {
  // Unset settings are undefined here, in spite of their type.
  const given: Values = values;
  return {
    ...values,
    sessionTtl: given.sessionTtl ?? Math.max(DEFAULT_SESSION_TTL, Math.min((values.sessionMaxAge ?? 0) + DAY, Number.MAX_SAFE_INTEGER)),
    documentHosts: given.documentHosts ?? defaultDocumentHosts(values.issuer),
  };
}

/** Reads own properties only: a property of Object.prototype is not a setting. */
function own(object: unknown, name: string): unknown {
  return isObjectLike(object) && Object.hasOwn(object, name) ? (object as Record<string, unknown>)[name] : undefined;
}

function isObjectLike(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function unknownOptions(options: unknown, otherOptions: readonly string[]): Finding[] {
  if (!isObjectLike(options) || Array.isArray(options)) {
    return [check("E006", `The options are ${kindOf(options)}; allowed: an object with one property per option.`)];
  }
  const known: readonly string[] = [...SETTING_NAMES, ...otherOptions];
  return Object.keys(options)
    .filter((name) => !known.includes(name))
    .map((name) => check("E010", `There is no option ${quoted(name)}.`, suggestion(name, otherOptions)));
}

function suggestion(name: string, otherOptions: readonly string[]): string | undefined {
  const environment = SETTING_NAMES.find((option) => SETTINGS[option].env === name);
  const near = environment ?? nearestName(name, [...SETTING_NAMES, ...otherOptions]);
  return near === undefined ? undefined : `Did you mean \`${near}\`? docs/reference/settings.md lists the options.`;
}

const VARIABLES: readonly string[] = Object.values(SETTINGS).map((row) => row.env);

/** Finds misspelt variables. The findings contain names only, since the value may be a secret. */
function misspeltVariables(env: unknown): Finding[] {
  if (!isObjectLike(env)) return [];
  const near = VARIABLES.filter((name) => name.startsWith("IDP_"));
  return Object.keys(env).flatMap((name) => {
    if (!/^IDP_/i.test(name) || VARIABLES.includes(name)) return [];
    const meant = nearlySameName(name, near);
    // On Windows, names have no letter case, and a variable is listed as it was first written.
    if (meant === undefined || (name.toUpperCase() === meant && own(env, meant) !== undefined)) return [];
    return [check("W014", `The environment variable ${quoted(name)} is not a setting. Did you mean \`${meant}\`?`)];
  });
}

/** Reads one setting: from the code, unless its value there is undefined; otherwise from the environment. */
function readSetting(name: SettingName, option: unknown, variable: unknown): Reading {
  const row = SETTINGS[name];
  if (option !== undefined) {
    if (option === null && (row.default === null || row.required)) return UNSET;
    if (row.required && typeof option === "string" && option.trim() === "") return UNSET;
    return reading(name, row.kind.fromCode(option), () => invalid(name, kindOf(option), option, "in code", allowedInCode(row)));
  }
  if (variable === undefined) return UNSET;
  // A plain object in place of `process.env` may contain other values than text.
  if (typeof variable !== "string")
    return reading(name, undefined, () => invalid(name, kindOf(variable), variable, "in the environment", row.kind.allowed));
  const text = row.secret ? variable : variable.trim();
  if (text.trim() === "" || (!row.secret && /^(?:none|null)$/i.test(text))) return UNSET;
  // Vite's tools, such as test runners, set their own base path under this name.
  if (name === "baseUrl" && text === "/") return UNSET;
  return reading(name, row.kind.fromText(text), () => invalid(name, kindOfText(text), text, "in the environment", row.kind.allowed));
}

function reading(name: SettingName, value: unknown, refusal: () => Finding): Reading {
  if (value === undefined) return { outcome: "refused", finding: refusal() };
  // An empty SCOPE means unset, in the environment and in code.
  if (name === "scope" && Array.isArray(value) && value.length === 0) return UNSET;
  return { outcome: "value", value };
}

function invalid(name: SettingName, thing: string, value: unknown, where: string, allowed: string): Finding {
  const row = SETTINGS[name];
  const shown = row.secret || row.hidden ? "" : quoted(value);
  return check("E006", `${label(name)} is ${thing}${shown && ` (${shown})`} ${where}; allowed: ${allowed}.`, row.remedyFor?.(value));
}

function allowedInCode(row: SettingRow): string {
  const allowed = row.kind.allowedInCode ?? row.kind.allowed;
  return row.default === null ? `${allowed}; or null` : allowed;
}
