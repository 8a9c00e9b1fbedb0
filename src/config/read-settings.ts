import { check } from "./check-table.js";
import { kindOf, kindOfText, quoted } from "./describe-value.js";
import type { Finding } from "../errors.js";
import { defaultDocumentHosts } from "./issuers.js";
import { nearestName, nearlySameName } from "./nearest-name.js";
import type { SettingRow } from "./setting-kinds.js";
import { deepFreeze } from "../record/json.js";
import { lifetimeFindings, settingFindings } from "./check-conditions.js";
import type { SettingOptions } from "./setting-options.js";
import { label, SETTINGS, type SettingName, type Settings, type Values } from "./setting-table.js";

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

/** A value, or the finding about a refused one. Neither: the setting is unset. */
interface Reading {
  readonly value?: unknown;
  readonly finding?: Finding;
}

const UNSET: Reading = {};

/**
 * Reads all settings, and the files that keys are in, and reports all mistakes at once. Never throws, for any input.
 *
 * @param otherOptions names of options that are not settings; they are skipped, and suggested for misspelt names
 * @param now epoch seconds, for the setting that must not be in the future
 */
export function readSettings(
  options: SettingOptions = {},
  env: Environment = {},
  otherOptions: readonly string[] = [],
  now = Infinity,
): SettingsResult {
  const findings: Finding[] = unknownOptions(options, otherOptions);
  const values: Record<string, unknown> = {};
  const unset = new Set<SettingName>();
  for (const name of SETTING_NAMES) {
    const { value, finding } = readSetting(name, own(options, name), own(env, SETTINGS[name].env));
    if (finding !== undefined) findings.push(finding);
    else if (value === undefined) {
      unset.add(name);
      values[name] = SETTINGS[name].default;
    } else values[name] = value;
  }
  findings.push(...misspeltVariables(env));
  const read = values as Values;
  findings.push(...settingFindings(read, unset));
  if ((read.sessionsNotBefore ?? 0) > now) findings.push(check("E022"));
  if (findings.some((finding) => finding.severity === "error")) return { settings: undefined, findings };
  const all = complete(read as Settings);
  const settings = deepFreeze({ ...all, scopeIsDefault: unset.has("scope"), publicPath: `${all.pathPrefix}${all.mountPath}` });
  return { settings, findings: [...findings, ...lifetimeFindings(settings)] };
}

const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

/** Adds the defaults that depend on other settings. */
function complete(values: Settings): Settings {
  // Unset settings are undefined here, in spite of their type.
  const given: Values = values;
  return {
    ...values,
    clientSecret: given.clientSecret ?? "",
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
    return [check("W014", `The environment variable ${quoted(name)} isn't a setting. Did you mean \`${meant}\`?`)];
  });
}

/** Reads one setting: from the code, unless its value there is undefined; otherwise from the environment. */
function readSetting(name: SettingName, option: unknown, variable: unknown): Reading {
  const row = SETTINGS[name];
  if (option !== undefined) {
    if (option === null && (row.default === null || row.required)) return UNSET;
    if (row.required && typeof option === "string" && option.trim() === "") return UNSET;
    return reading(name, option, row.kind.fromCode(option), "in code");
  }
  if (variable === undefined) return UNSET;
  // A plain object in place of `process.env` may contain other values than text.
  if (typeof variable !== "string") return reading(name, variable, undefined, "in the environment");
  const text = row.secret ? variable : variable.trim();
  if (text.trim() === "" || (!row.secret && /^(?:none|null)$/i.test(text))) return UNSET;
  // Vite's tools, such as test runners, set their own base path under this name.
  if (name === "baseUrl" && text === "/") return UNSET;
  return reading(name, text, row.kind.fromText(text), "in the environment");
}

/** @param value what the setting's kind has read; undefined: it refuses the given value */
function reading(name: SettingName, given: unknown, value: unknown, where: "in code" | "in the environment"): Reading {
  // An empty SCOPE means unset, in the environment and in code.
  if (value !== undefined) return name === "scope" && Array.isArray(value) && value.length === 0 ? UNSET : { value };
  const row = SETTINGS[name];
  const isText = where === "in the environment" && typeof given === "string";
  const thing = isText ? kindOfText(given) : kindOf(given);
  const shown = row.secret || row.hidden ? "" : quoted(given);
  const allowed = where === "in code" ? allowedInCode(row) : row.kind.allowed;
  const message = `${label(name)} is ${thing}${shown && ` (${shown})`} ${where}; allowed: ${allowed}.`;
  return { finding: check("E006", message, row.remedyFor?.(given)) };
}

function allowedInCode(row: SettingRow): string {
  const allowed = row.kind.allowedInCode ?? row.kind.allowed;
  return row.default === null ? `${allowed}; or null` : allowed;
}
