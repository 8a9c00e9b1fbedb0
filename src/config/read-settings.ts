import type { Finding } from "../errors.js";
import { defaultTtl } from "../record/entry-life.js";
import { deepFreeze, isObject } from "../record/json.js";
import { expiryFindings } from "./check-certificates.js";
import { commonFindings, lifetimeFindings } from "./check-common-settings.js";
import { providerFindings, singleFindings } from "./check-provider-settings.js";
import { severalFindings, sharedKeyFindings } from "./check-several-providers.js";
import { fileFindings, sourcedFindings } from "./check-sourced-provider.js";
import { named, providerCheck, type UnnamedFinding } from "./findings.js";
import { environmentOf, PROVIDER_LOOK, usableKeys, variableOf } from "./provider-keys.js";
import { readSetting, UNSET, type Reading } from "./read-setting.js";
import {
  SETTING_NAMES,
  settingNamesOf,
  sourcedNamesOf,
  type SettingNames,
  type SettingText,
} from "./setting-names.js";
import type { SettingOptions } from "./setting-options.js";
import type { SettingRow } from "./setting-row.js";
import {
  PROVIDER_SETTING_NAMES,
  SETTINGS,
  type CommonSettings,
  type ProviderSettingName,
  type SettingName,
  type Settings,
  type Values,
} from "./setting-table.js";
import { issuerTemplate } from "./tenant-issuers.js";
import { misspeltVariables, unknownOptions } from "./unknown-settings.js";

export {
  PROVIDER_SETTING_NAMES,
  SETTINGS,
  type CommonSettings,
  type SettingName,
  type SettingOptions,
  type Settings,
};

/** The environment in the form of `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** One of the application's providers. */
export interface ConfiguredProvider {
  /** Undefined: the application has one provider, without a key. */
  readonly key: string | undefined;
  /** What users read. */
  readonly name: string;
  /** The path of its icon. */
  readonly icon: string | undefined;
  readonly settings: Settings;
  /** Names the settings in a message as this provider's are set. */
  readonly names: SettingNames;
}

/** What was read of one provider. A refused setting is missing. */
export interface ProviderReadings extends Pick<ConfiguredProvider, "key" | "names"> {
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
  /**
   * Reads what a source returned for a key. Undefined without a source, or if `findings` contains an
   * error.
   */
  readonly readSourced?: ReadSourced | undefined;
  /** What providers from a source inherit. Undefined as `readSourced`. */
  readonly inherited?: Partial<Settings> | undefined;
}

/** Reads the settings of a provider from a source. Never throws. */
export type ReadSourced = (key: string, options: unknown) => SourcedReading;

/** What was read of a provider from a source. */
export interface SourcedReading {
  /** Undefined if and only if `findings` contains an error. */
  readonly provider: SourcedProvider | undefined;
  readonly findings: readonly Finding[];
}

/** A provider from a source. */
export interface SourcedProvider extends ConfiguredProvider {
  readonly key: string;
  /** Null: the provider says which addresses are verified. */
  readonly emailDomains: readonly string[] | null;
  readonly allowPrivateNetwork: boolean;
}

/** What was read of one provider, or of what all share. */
interface Readings {
  readonly values: Values;
  readonly unset: ReadonlySet<SettingName>;
  readonly findings: readonly UnnamedFinding[];
}

/** What one provider, or all of them, are given. */
interface Given {
  /** Unchecked. */
  readonly options: unknown;
  readonly env: Environment;
}

interface ReadOptions {
  /** Names of options that aren't settings; they are skipped, and suggested for misspelt names. */
  readonly otherOptions?: readonly string[];
  /** Epoch seconds, for the setting that must not be in the future. Default: any time is past. */
  readonly now?: number;
  /** Whether a source has further providers, so that the list may be empty. Default false. */
  readonly hasSource?: boolean;
}

/**
 * Reads all settings, and the files that keys are in, and reports all mistakes at once. Never
 * throws, for any input.
 */
export function readSettings(
  options: SettingOptions = {},
  env: Environment = {},
  { otherOptions = [], now = Infinity, hasSource = false }: ReadOptions = {},
): SettingsResult {
  const common = readEach(ALL_SETTINGS, (name) => readShared(name, options, env));
  if (hasSource && common.values.providers === null) common.values.providers = [];
  const { providers: accepted } = common.values;
  const isRefused = accepted === undefined;
  const keys = isRefused
    ? usableKeys(ownMember(options, "providers"), ownMember(env, SETTINGS.providers.env))
    : accepted;
  const list = ownMember(options, "providers");
  const several = keys?.map((key) =>
    readProvider(
      key,
      { options: ownMember(list, key), env: environmentOf(key, keys, env) },
      common,
    ),
  );
  const single = { key: undefined, name: "", icon: undefined, names: SETTING_NAMES, ...common };
  const read = several ?? [single];
  // Without a usable key, no provider is known.
  const issuers = (read.length > 0 ? read : [common]).flatMap(({ values }) => values.issuer ?? []);
  const unknown = unknownOptions(options, [...ALL_SETTINGS, ...otherOptions]);
  const findings = [
    ...[...unknown, ...common.findings].map((finding) => named(finding)),
    ...misspeltVariables(env, keys ?? [], isRefused),
    ...commonFindings(common.values, common.unset, { issuers, now }),
    ...(several === undefined
      ? singleFindings(common.values, common.unset).map((finding) => named(finding))
      : [
          ...severalFindings(common, several, { isOpen: isRefused || hasSource }),
          ...several.flatMap((one) => one.findings),
        ]),
    ...(isRefused ? [] : sharedKeyFindings(read)),
    ...expiryFindings(read, now),
  ];
  if (findings.some((finding) => finding.severity === "error"))
    return { settings: undefined, providers: [], read, findings };
  const providers = read.map(configured);
  const settings = several === undefined ? providers[0]?.settings : complete(common);
  return {
    settings,
    providers,
    read,
    ...(hasSource && sourceReader(common)),
    findings: settings === undefined ? findings : [...findings, ...lifetimeFindings(settings)],
  };
}

function sourceReader(
  common: Readings,
): Required<Pick<SettingsResult, "inherited" | "readSourced">> {
  return {
    inherited: complete(common),
    readSourced: (key, given) => readSourced(key, given, common),
  };
}

function configured({
  key,
  name,
  icon,
  names,
  ...one
}: Pick<ConfiguredProvider, "key" | "name" | "icon" | "names"> &
  Pick<Readings, "values" | "unset">): ConfiguredProvider {
  return { key, name, icon, names, settings: complete(one) };
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

const PROVIDER_OPTION_NAMES = [...PROVIDER_SETTING_NAMES, ...Object.keys(PROVIDER_LOOK)];
const SOURCE_ONLY = ["emailDomains", "allowPrivateNetwork"];
/** What a provider from a source can only turn off: the application turns them on for all. */
const TURNED_ON_FOR_ALL = ["logoutAtProvider", "backchannelLogout", "frontchannelLogout"] as const;

/** Reads the settings of a provider from a source: those that it has, and those that it inherits. */
function readSourced(key: string, options: unknown, common: Readings): SourcedReading {
  const ofFiles = fileFindings((name) => ownMember(options, name));
  if (ofFiles.length > 0) {
    const names = sourcedNamesOf(key, []);
    return { provider: undefined, findings: ofFiles.map((finding) => named(finding, names)) };
  }
  const read = readProvider(key, { options, env: {} }, common, sourcedNamesOf);
  const [domains, isPrivate = false] = SOURCE_ONLY.map((option) => ownMember(options, option));
  const own = { emailDomains: domains, allowPrivateNetwork: isPrivate };
  const findings = [
    ...read.findings,
    ...sourcedFindings(read.values, own).map((finding) => named(finding, read.names)),
  ];
  if (findings.some(({ severity }) => severity === "error"))
    return { provider: undefined, findings };
  const isOff = TURNED_ON_FOR_ALL.filter((name) => !common.values[name]);
  const off = Object.fromEntries(isOff.map((name) => [name, false]));
  const provider = {
    ...configured({ ...read, values: { ...read.values, ...off } }),
    key,
    emailDomains: (domains as readonly string[] | undefined) ?? null,
    allowPrivateNetwork: isPrivate === true,
  };
  return { provider, findings };
}

/**
 * Reads the settings of one of several providers, in the place of those that all share.
 *
 * @param namesOf returns how messages name the settings
 */
// eslint-disable-next-line @typescript-eslint/max-params -- the fourth is the source's alone.
function readProvider(
  key: string,
  { options, env }: Given,
  common: Readings,
  namesOf?: typeof settingNamesOf,
) {
  const read = (name: string, row: SettingRow, label: SettingText) =>
    readSetting({
      row,
      name,
      label,
      option: ownMember(options, name),
      variable: ownMember(env, variableOf(key, row.env)),
    });
  const given = readEach(PROVIDER_SETTING_NAMES, (name) =>
    read(name, SETTINGS[name], ({ label }) => label(name)),
  );
  const [name, icon] = (["name", "icon"] as const).map((option) =>
    read(
      option,
      PROVIDER_LOOK[option],
      `${variableOf(key, PROVIDER_LOOK[option].env)} (option ${option})`,
    ),
  );
  const inherited = PROVIDER_SETTING_NAMES.filter(
    (setting) =>
      given.unset.has(setting) && !common.unset.has(setting) && appliesTo(given, setting),
  );
  const names = (namesOf ?? settingNamesOf)(key, inherited);
  const values = {
    ...common.values,
    ...given.values,
    ...Object.fromEntries(inherited.map((setting) => [setting, common.values[setting]])),
  };
  const isInherited = (setting: SettingName) =>
    (inherited as readonly SettingName[]).includes(setting);
  const unset = new Set([
    ...[...common.unset].filter((setting) => !isOfProviders(setting)),
    ...[...given.unset].filter((setting) => !isInherited(setting)),
  ]);
  const ownNames = namesOf === undefined ? [] : SOURCE_ONLY;
  const findings = [
    ...unknownOptions(options, [...PROVIDER_OPTION_NAMES, ...ownNames]),
    ...given.findings,
    ...[name, icon].flatMap((one) => one?.finding ?? []),
    ...(unset.has("issuer")
      ? [providerCheck("E003", ({ label }) => `${label("issuer")} is missing.`)]
      : []),
    ...providerFindings(values, unset),
  ].map((finding) => named(finding, names));
  const look = { name: textIn(name) ?? key, icon: textIn(icon) };
  return { key, ...look, names, values, unset, findings };
}

function textIn(reading: Reading | undefined): string | undefined {
  return typeof reading?.value === "string" ? reading.value : undefined;
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
  const findings: UnnamedFinding[] = [];
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

const ALL_SETTINGS = Object.keys(SETTINGS) as readonly SettingName[];

/** Adds the defaults that depend on other settings. */
function complete({ values, unset }: Pick<Readings, "values" | "unset">): Settings {
  // Unset settings are undefined, in spite of their type. Refused ones are not here any more.
  const given = values as Settings;
  const { pathPrefix, mountPath, sessionMaxAge } = given;
  return deepFreeze({
    ...given,
    clientSecret: values.clientSecret ?? "",
    sessionTtl: values.sessionTtl ?? defaultTtl(sessionMaxAge),
    scopeIsDefault: unset.has("scope"),
    publicPath: `${pathPrefix}${mountPath}`,
  });
}

/** Reads a setting that is given without a provider's key. */
function readShared(name: SettingName, options: unknown, env: unknown): Reading {
  const row = SETTINGS[name];
  const option = ownMember(options, name);
  const variable = ownMember(env, row.env);
  // Vite's tools, such as test runners, set their own base path under this name.
  return name === "baseUrl" && option === undefined && variable === "/"
    ? UNSET
    : readSetting({ row, name, label: ({ label }) => label(name), option, variable });
}

/** Reads own properties only: a property of Object.prototype is not a setting. */
function ownMember(object: unknown, name: string): unknown {
  return isObject(object) && Object.hasOwn(object, name) ? object[name] : undefined;
}
