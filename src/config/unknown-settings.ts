import type { Finding } from "../errors.js";
import { isObject } from "../record/json.js";
import { kindOf, quoted } from "./describe-value.js";
import { check, providerCheck, type UnnamedFinding } from "./findings.js";
import { nearestName, nearlySameName } from "./nearest-name.js";
import { isOfSomeProvider, PROVIDER_LOOK, prefixOf, variableOf } from "./provider-keys.js";
import { PROVIDER_VARIABLES } from "./setting-names.js";
import { SETTINGS, type SettingName } from "./setting-table.js";

/** Finds options that aren't settings. @param options of all providers, or of one of several */
export function unknownOptions(options: unknown, known: readonly string[]): UnnamedFinding[] {
  if (!isObject(options)) {
    if (options === undefined) return [];
    return [
      providerCheck(
        "E006",
        `The options are ${kindOf(options)}; allowed: an object with one property per option.`,
      ),
    ];
  }
  return Object.keys(options)
    .filter((name) => !known.includes(name))
    .map((name) =>
      providerCheck("E010", `There is no option ${quoted(name)}.`, suggestion(name, known)),
    );
}

function suggestion(name: string, known: readonly string[]): string | undefined {
  const environment = (Object.keys(SETTINGS) as SettingName[]).find(
    (option) => SETTINGS[option].env === name,
  );
  const near = environment ?? nearestName(name, known);
  return near === undefined
    ? undefined
    : `Did you mean \`${near}\`? docs/reference/settings.md lists the options.`;
}

const VARIABLES: readonly string[] = Object.values(SETTINGS).map((row) => row.env);
/** Of one provider, before its key is in the names. */
const OWN_VARIABLES = [
  ...Object.values(PROVIDER_LOOK).map((row) => row.env),
  ...PROVIDER_VARIABLES,
];

/**
 * Finds misspelt variables. The findings contain names only, since the value may be a secret.
 *
 * @param keys the keys of the providers
 * @param isRefused whether there are further keys, which are wrong
 */
export function misspeltVariables(
  env: unknown,
  keys: readonly string[],
  isRefused: boolean,
): Finding[] {
  if (!isObject(env)) return [];
  const ofProviders = keys.flatMap((key) => OWN_VARIABLES.map((name) => variableOf(key, name)));
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
    if (meant !== undefined && upper === meant && env[meant] !== undefined) return [];
    // Of another key, which may be a refused one.
    if (isOfSomeProvider(name, OWN_VARIABLES))
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
