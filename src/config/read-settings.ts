import { check } from "./check-table.js";
import { kindOf, kindOfText, quoted } from "./describe-value.js";
import type { Finding } from "../errors.js";
import { defaultDocumentHosts, issuerTemplate } from "./issuers.js";
import { nearestName, nearlySameName } from "./nearest-name.js";
import {
  isInherited,
  ofProvider,
  prefixOf,
  PROVIDER_NAME,
  PROVIDER_SETTING_NAMES,
  variableOf,
} from "./provider-keys.js";
import type { SettingRow } from "./setting-kinds.js";
import { deepFreeze } from "../record/json.js";
import {
  commonFindings,
  lifetimeFindings,
  providerFindings,
  publishedFindings,
  severalFindings,
} from "./check-conditions.js";
import type { SettingOptions } from "./setting-options.js";
import {
  label,
  SETTINGS,
  type CommonSettings,
  type SettingName,
  type Settings,
  type Values,
} from "./setting-table.js";

export { SETTINGS, type CommonSettings, type SettingName, type SettingOptions, type Settings };

const DAY = 24 * 60 * 60;
const DEFAULT_SESSION_TTL = 14 * DAY;

/** The environment in the form of `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** One of the application's providers. */
export interface ProviderSettings {
  /** Undefined: the application has one provider, without a key. */
  readonly key: string | undefined;
  /** What users read. */
  readonly name: string;
  readonly settings: Settings;
}

export interface SettingsResult {
  /**
   * With several providers, those of no provider. Undefined if and only if `findings` contains an
   * error.
   */
  readonly settings: Settings | undefined;
  /** Empty if `findings` contains an error. */
  readonly providers: readonly ProviderSettings[];
  readonly findings: readonly Finding[];
}

/** A value, or the finding about a refused one. Neither: the setting is unset. */
interface Reading {
  readonly value?: unknown;
  readonly finding?: Finding;
}

/** What was read of one provider, or of what all share. */
interface Readings {
  readonly values: Values;
  readonly unset: ReadonlySet<SettingName>;
  readonly findings: readonly Finding[];
}

const UNSET: Reading = {};

/**
 * Reads all settings, and the files that keys are in, and reports all mistakes at once. Never
 * throws, for any input.
 *
 * @param otherOptions names of options that are not settings; they are skipped, and suggested for
 *   misspelt names
 * @param now epoch seconds, for the setting that must not be in the future
 */
export function readSettings(
  options: SettingOptions = {},
  env: Environment = {},
  otherOptions: readonly string[] = [],
  now = Infinity,
): SettingsResult {
  const common = readEach(SETTING_NAMES, (name) =>
    readSetting(name, own(options, name), own(env, SETTINGS[name].env)),
  );
  const keys = common.values.providers;
  const named = keys?.map((key) =>
    readProvider(key, own(own(options, "providers"), key), env, common),
  );
  const issuers = (named ?? [common]).flatMap(({ values }) => values.issuer ?? []);
  const findings = [
    ...unknownOptions(options, [...SETTING_NAMES, ...otherOptions]),
    ...common.findings,
  ];
  findings.push(
    ...misspeltVariables(env, keys ?? []),
    ...commonFindings(common.values, common.unset, issuers),
  );
  // A refused list of providers is undefined, and no provider's settings are known.
  if (keys === null)
    findings.push(...providerFindings(common.values, common.unset), ...publishedFindings([common]));
  if (named !== undefined)
    findings.push(
      ...severalFindings(common, named),
      ...publishedFindings(named),
      ...named.flatMap((one) => one.findings),
    );
  if ((common.values.sessionsNotBefore ?? 0) > now) findings.push(check("E022"));
  if (findings.some((finding) => finding.severity === "error"))
    return { settings: undefined, providers: [], findings };
  const providers = (named ?? [{ key: undefined, name: "", ...common }]).map(
    ({ key, name, ...one }) => ({
      key,
      name,
      settings: complete(one),
    }),
  );
  const settings =
    providers[0]?.key === undefined ? providers[0]?.settings : complete(common, providers);
  return {
    settings,
    providers,
    findings: settings === undefined ? findings : [...findings, ...lifetimeFindings(settings)],
  };
}

/** From the variables of what a provider may have of its own to the options. */
export const PROVIDER_OPTIONS: ReadonlyMap<string, SettingName> = new Map(
  PROVIDER_SETTING_NAMES.map((name) => [SETTINGS[name].env, name]),
);

/** Reads the settings of one of several providers, in the place of those that all share. */
function readProvider(key: string, options: unknown, env: Environment, common: Readings) {
  const read = (row: SettingRow, name: string) =>
    readRow(row, name, own(options, name), own(env, variableOf(key, row.env)));
  const given = readEach(PROVIDER_SETTING_NAMES, (name) => read(SETTINGS[name], name));
  const name = read(PROVIDER_NAME, "name");
  const unset = new Set(
    [...common.unset].filter(
      (setting) => !(PROVIDER_SETTING_NAMES as readonly string[]).includes(setting),
    ),
  );
  const values: Record<string, unknown> = { ...common.values, ...given.values };
  for (const setting of PROVIDER_SETTING_NAMES) {
    if (!given.unset.has(setting)) continue;
    // Only some of the providers may be an address for several tenants.
    const isApplicable =
      setting !== "allowedTenants" || issuerTemplate(given.values.issuer ?? "") !== undefined;
    if (isInherited(setting) && isApplicable) values[setting] = common.values[setting];
    if (!isInherited(setting) || common.unset.has(setting)) unset.add(setting);
  }
  const findings = [
    ...unknownOptions(options, [...PROVIDER_SETTING_NAMES, "name"]),
    ...given.findings,
    ...(name.finding ? [name.finding] : []),
    ...(unset.has("issuer") ? [check("E003", `${label("issuer")} is missing.`)] : []),
    ...providerFindings(values, unset),
  ];
  const readings: Readings = {
    values,
    unset,
    findings: findings.map((finding) => ofProvider(key, PROVIDER_OPTIONS, finding)),
  };
  return { key, name: typeof name.value === "string" ? name.value : key, ...readings };
}

function readEach<Name extends SettingName>(
  names: readonly Name[],
  read: (name: Name) => Reading,
): Readings {
  const values: Record<string, unknown> = {};
  const unset = new Set<SettingName>();
  const findings: Finding[] = [];
  for (const name of names) {
    const { value, finding } = read(name);
    if (finding !== undefined) findings.push(finding);
    else if (value === undefined) {
      unset.add(name);
      values[name] = SETTINGS[name].default;
    } else values[name] = value;
  }
  return { values, unset, findings };
}

const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

/**
 * Adds the defaults that depend on other settings.
 * @param providers those whose documents are accepted, in place of the issuer's
 */
function complete(
  { values, unset }: Pick<Readings, "values" | "unset">,
  providers?: readonly ProviderSettings[],
): Settings {
  // Unset settings are undefined, in spite of their type. Refused ones are not here any more.
  const given = values as Settings;
  const { pathPrefix, mountPath, sessionMaxAge, issuer } = given;
  const hosts =
    providers?.flatMap(({ settings }) => settings.documentHosts) ?? defaultDocumentHosts(issuer);
  return deepFreeze({
    ...given,
    clientSecret: values.clientSecret ?? "",
    sessionTtl:
      values.sessionTtl ??
      Math.max(DEFAULT_SESSION_TTL, Math.min((sessionMaxAge ?? 0) + DAY, Number.MAX_SAFE_INTEGER)),
    documentHosts: values.documentHosts ?? [...new Set(hosts)],
    scopeIsDefault: unset.has("scope"),
    publicPath: `${pathPrefix}${mountPath}`,
  });
}

/** Reads own properties only: a property of Object.prototype is not a setting. */
function own(object: unknown, name: string): unknown {
  return isObjectLike(object) && Object.hasOwn(object, name)
    ? (object as Record<string, unknown>)[name]
    : undefined;
}

function isObjectLike(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function unknownOptions(options: unknown, known: readonly string[]): Finding[] {
  if (!isObjectLike(options) || Array.isArray(options)) {
    if (options === undefined) return [];
    return [
      check(
        "E006",
        `The options are ${kindOf(options)}; allowed: an object with one property per option.`,
      ),
    ];
  }
  return Object.keys(options)
    .filter((name) => !known.includes(name))
    .map((name) => check("E010", `There is no option ${quoted(name)}.`, suggestion(name, known)));
}

function suggestion(name: string, known: readonly string[]): string | undefined {
  const environment = SETTING_NAMES.find((option) => SETTINGS[option].env === name);
  const near = environment ?? nearestName(name, known);
  return near === undefined
    ? undefined
    : `Did you mean \`${near}\`? docs/reference/settings.md lists the options.`;
}

const VARIABLES: readonly string[] = Object.values(SETTINGS).map((row) => row.env);

/**
 * Finds misspelt variables. The findings contain names only, since the value may be a secret.
 * @param keys the keys of several providers
 */
function misspeltVariables(env: unknown, keys: readonly string[]): Finding[] {
  if (!isObjectLike(env)) return [];
  const ofProviders = keys.flatMap((key) =>
    [PROVIDER_NAME.env, ...PROVIDER_OPTIONS.keys()].map((name) => variableOf(key, name)),
  );
  const known = [...VARIABLES, ...ofProviders];
  const near = known.filter((name) => name.startsWith("IDP_"));
  const prefixes = keys.map(prefixOf);
  return Object.keys(env).flatMap((name) => {
    if (!/^IDP_/i.test(name) || known.includes(name)) return [];
    const meant = nearlySameName(name, near);
    const message = `The environment variable ${quoted(name)} isn't a setting.`;
    // On Windows, names have no letter case, and a variable is listed as it was first written.
    if (meant !== undefined && name.toUpperCase() === meant && own(env, meant) !== undefined)
      return [];
    if (meant !== undefined) return [check("W014", `${message} Did you mean \`${meant}\`?`)];
    return prefixes.some((prefix) => name.startsWith(prefix)) ? [check("W014", message)] : [];
  });
}

/**
 * Reads one setting: from the code, unless its value there is undefined; otherwise from the
 * environment.
 */
function readSetting(name: SettingName, option: unknown, variable: unknown): Reading {
  // Vite's tools, such as test runners, set their own base path under this name.
  return name === "baseUrl" && option === undefined && variable === "/"
    ? UNSET
    : readRow(SETTINGS[name], name, option, variable);
}

function readRow(row: SettingRow, name: string, option: unknown, variable: unknown): Reading {
  if (option !== undefined) {
    if (option === null && (row.default === null || row.required)) return UNSET;
    if (row.required && typeof option === "string" && option.trim() === "") return UNSET;
    return reading(row, name, option, row.kind.fromCode(option), "in code");
  }
  if (variable === undefined) return UNSET;
  // A plain object in place of `process.env` may contain other values than text.
  if (typeof variable !== "string")
    return reading(row, name, variable, undefined, "in the environment");
  const text = row.secret ? variable : variable.trim();
  if (text.trim() === "" || (!row.secret && /^(?:none|null)$/i.test(text))) return UNSET;
  return reading(row, name, text, row.kind.fromText(text), "in the environment");
}

/** @param value what the setting's kind has read; undefined: it refuses the given value */
function reading(
  row: SettingRow,
  name: string,
  given: unknown,
  value: unknown,
  where: "in code" | "in the environment",
): Reading {
  // An empty SCOPE means unset, in the environment and in code.
  if (value !== undefined)
    return name === "scope" && Array.isArray(value) && value.length === 0 ? UNSET : { value };
  const isText = where === "in the environment" && typeof given === "string";
  const thing = isText ? kindOfText(given) : kindOf(given);
  const shown = row.secret || row.hidden ? "" : quoted(given);
  const allowed = where === "in code" ? allowedInCode(row) : row.kind.allowed;
  const message = `${row.env} (option ${name}) is ${thing}${shown && ` (${shown})`} ${where}; allowed: ${allowed}.`;
  return { finding: check("E006", message, row.remedyFor?.(given)) };
}

function allowedInCode(row: SettingRow): string {
  const allowed = row.kind.allowedInCode ?? row.kind.allowed;
  return row.default === null ? `${allowed}; or null` : allowed;
}
