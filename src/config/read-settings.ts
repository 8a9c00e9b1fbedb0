import { check } from "./check-table.js";
import { kindOf, kindOfText, quoted } from "./describe-value.js";
import type { Finding } from "../errors.js";
import { defaultDocumentHosts } from "./provider-profiles.js";
import { issuerTemplate } from "./tenant-issuers.js";
import { nearestName, nearlySameName } from "./nearest-name.js";
import {
  isOfSomeProvider,
  prefixOf,
  PROVIDER_NAME,
  usableKeys,
  variableOf,
} from "./provider-keys.js";
import { ofProvider, PROVIDER_VARIABLES, wordsOf, type Words } from "./provider-words.js";
import type { SettingRow } from "./setting-kinds.js";
import { deepFreeze } from "../record/json.js";
import {
  commonFindings,
  lifetimeFindings,
  providerFindings,
  publishedFindings,
  severalFindings,
  singleFindings,
} from "./check-conditions.js";
import type { SettingOptions } from "./setting-options.js";
import {
  label,
  PROVIDER_SETTING_NAMES,
  SETTINGS,
  type CommonSettings,
  type ProviderSettingName,
  type SettingName,
  type Settings,
  type Values,
} from "./setting-table.js";

export {
  PROVIDER_SETTING_NAMES,
  SETTINGS,
  type CommonSettings,
  type SettingName,
  type SettingOptions,
  type Settings,
};

const DAY = 24 * 60 * 60;
const DEFAULT_SESSION_TTL = 14 * DAY;

/** The environment in the form of `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** One of the application's providers. */
export interface ConfiguredProvider {
  /** Undefined: the application has one provider, without a key. */
  readonly key: string | undefined;
  /** What users read. */
  readonly name: string;
  readonly settings: Settings;
  /** Names the settings in a message as this provider's are set. */
  readonly words: Words;
}

/** What was read of one provider. A refused setting is missing. */
export interface ProviderReadings extends Pick<ConfiguredProvider, "key" | "words"> {
  readonly values: Readonly<Values>;
}

export interface SettingsResult {
  /**
   * What all providers share: a check of anything else reads {@link read} or {@link providers}.
   * Undefined if and only if `findings` contains an error.
   */
  readonly settings: CommonSettings | undefined;
  /** Empty if `findings` contains an error. */
  readonly providers: readonly ConfiguredProvider[];
  /** Of each provider, also if `findings` contains an error. */
  readonly read: readonly ProviderReadings[];
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
  const { providers: accepted } = common.values;
  const isRefused = accepted === undefined;
  const keys = isRefused
    ? usableKeys(own(options, "providers"), own(env, SETTINGS.providers.env))
    : accepted;
  const named = keys?.map((key) =>
    readProvider(key, own(own(options, "providers"), key), env, common),
  );
  const read = named ?? [{ key: undefined, name: "", words: wordsOf(undefined), ...common }];
  // Without a usable key, no provider is known.
  const issuers = (read.length > 0 ? read : [common]).flatMap(({ values }) => values.issuer ?? []);
  const findings = [
    ...unknownOptions(options, [...SETTING_NAMES, ...otherOptions]),
    ...common.findings,
    ...misspeltVariables(env, keys ?? [], isRefused),
    ...commonFindings(common.values, common.unset, issuers),
    ...(named === undefined
      ? singleFindings(common.values, common.unset)
      : [...severalFindings(common, named, isRefused), ...named.flatMap((one) => one.findings)]),
    ...(isRefused ? [] : publishedFindings(common.values, read)),
  ];
  if ((common.values.sessionsNotBefore ?? 0) > now) findings.push(check("E022"));
  if (findings.some((finding) => finding.severity === "error"))
    return { settings: undefined, providers: [], read, findings };
  const providers = read.map(({ key, name, words, ...one }) => ({
    key,
    name,
    words,
    settings: complete(one),
  }));
  const settings = named === undefined ? providers[0]?.settings : complete(common, providers);
  return {
    settings,
    providers,
    read,
    findings: settings === undefined ? findings : [...findings, ...lifetimeFindings(settings)],
  };
}

/**
 * Whether a setting without a provider's key can apply to a provider that has none of its own. Only
 * some of the providers may be an address for several tenants, or have a secret.
 */
function appliesTo({ values, unset }: Readings, setting: ProviderSettingName): boolean {
  if (setting === "allowedTenants") return issuerTemplate(values.issuer ?? "") !== undefined;
  if (setting === "tokenEndpointAuthMethod") return unset.has("privateKey");
  return SETTINGS[setting].per === "inherited";
}

/** Reads the settings of one of several providers, in the place of those that all share. */
function readProvider(key: string, options: unknown, env: Environment, common: Readings) {
  const read = (row: SettingRow, name: string) =>
    readRow(row, name, own(options, name), own(env, variableOf(key, row.env)));
  const given = readEach(PROVIDER_SETTING_NAMES, (name) => read(SETTINGS[name], name));
  const name = read(PROVIDER_NAME, "name");
  const inherited = PROVIDER_SETTING_NAMES.filter(
    (setting) =>
      given.unset.has(setting) && !common.unset.has(setting) && appliesTo(given, setting),
  );
  const words = wordsOf(key, inherited);
  const values = {
    ...common.values,
    ...given.values,
    ...Object.fromEntries(inherited.map((setting) => [setting, common.values[setting]])),
  };
  const unset = new Set([
    ...[...common.unset].filter((setting) => !isOfProviders(setting)),
    ...[...given.unset].filter(
      (setting) => !(inherited as readonly SettingName[]).includes(setting),
    ),
  ]);
  const findings = [
    ...unknownOptions(options, [...PROVIDER_SETTING_NAMES, "name"]),
    ...given.findings,
    ...(name.finding ? [name.finding] : []),
    ...(unset.has("issuer") ? [check("E003", `${label("issuer")} is missing.`)] : []),
    ...providerFindings(values, unset),
  ].map((finding) => ofProvider(key, words, finding));
  return {
    key,
    name: typeof name.value === "string" ? name.value : key,
    words,
    values,
    unset,
    findings,
  };
}

function isOfProviders(setting: SettingName): boolean {
  return SETTINGS[setting].per !== undefined;
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
  providers?: readonly ConfiguredProvider[],
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
 *
 * @param keys the keys of several providers
 * @param isRefused whether there are further keys, which are wrong
 */
function misspeltVariables(env: unknown, keys: readonly string[], isRefused: boolean): Finding[] {
  if (!isObjectLike(env)) return [];
  const ofProviders = keys.flatMap((key) =>
    [PROVIDER_NAME.env, ...PROVIDER_VARIABLES].map((name) => variableOf(key, name)),
  );
  const known = [...VARIABLES, ...ofProviders];
  const near = known.filter((name) => name.startsWith("IDP_"));
  const prefixes = keys.map(prefixOf);
  return Object.keys(env).flatMap((name) => {
    if (!/^IDP_/i.test(name) || known.includes(name)) return [];
    const upper = name.toUpperCase();
    const own = prefixes.filter((prefix) => upper.startsWith(prefix));
    // A variable of one provider never means another's.
    const isOther = (other: string) => !own.some((prefix) => other.startsWith(prefix));
    const candidates = upper.startsWith("IDP_PROVIDER_")
      ? near.filter((other) => VARIABLES.includes(other) || !isOther(other))
      : near;
    const meant = nearlySameName(name, candidates);
    const message = `The environment variable ${quoted(name)} isn't a setting.`;
    // On Windows, names have no letter case, and a variable is listed as it was first written.
    if (meant !== undefined && upper === meant && isSet(env, meant)) return [];
    // Of another key, which may be a refused one.
    if (isOfSomeProvider(name, [PROVIDER_NAME.env, ...PROVIDER_VARIABLES]))
      return isRefused ? [] : [check("W014", `${message} ${noProviderOf(keys)}`)];
    if (meant !== undefined) return [check("W014", `${message} Did you mean \`${meant}\`?`)];
    return own.length > 0 ? [check("W014", message)] : [];
  });
}

function noProviderOf(keys: readonly string[]): string {
  const { env } = SETTINGS.providers;
  return keys.length === 0
    ? `It would be one of a provider's, but ${env} isn't set.`
    : `It would be one of a provider's that ${env} doesn't list; the keys there are ${keys.join(", ")}.`;
}

function isSet(env: object, name: string): boolean {
  return own(env, name) !== undefined;
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
