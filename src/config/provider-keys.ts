/** Several providers: their keys, and the names of their settings. */
import { isObject } from "../record/json.js";
import { ownPath, text, type SettingKind } from "./setting-kinds.js";
import type { SettingRow } from "./setting-row.js";

/** What users see of a provider where they choose one. Only one of several providers has it. */
export const PROVIDER_LOOK = {
  name: { env: "IDP_NAME", kind: text },
  icon: { env: "IDP_ICON", kind: ownPath },
} satisfies Readonly<Record<string, SettingRow>>;

/** In an address, in a variable's name and in the log. */
const KEY = /^[a-z][a-z0-9-]{0,30}$/;
const FORM = "at most 31 lowercase letters, digits and hyphens, starting with a letter";

export const providerKey: SettingKind<string> = {
  type: "key",
  allowed: `the key of a provider: ${FORM}`,
  fromText: keyOf,
  fromCode: keyOf,
};

function keyOf(value: unknown): string | undefined {
  return typeof value === "string" && KEY.test(value) ? value : undefined;
}

/**
 * Reads the keys: of a list in the environment, and of an object in code, whose members
 * read-settings.ts reads.
 */
export const providerKeys: SettingKind<readonly string[]> = {
  type: "list",
  allowed: `keys separated by spaces or commas, each only once and with ${FORM}`,
  allowedInCode: `an object with an object for each provider, under a key with ${FORM}`,
  fromText: (list) => keysIn(listed(list)),
  fromCode: (value) => {
    return isObject(value) && Object.values(value).every(isObject)
      ? keysIn(Object.keys(value))
      : undefined;
  },
};

function listed(list: string): readonly string[] {
  return list.split(/[\s,]+/).filter((key) => key !== "");
}

function keysIn(keys: readonly string[]): readonly string[] | undefined {
  return keys.length > 0 && new Set(keys).size === keys.length && keys.every((key) => KEY.test(key))
    ? keys
    : undefined;
}

/**
 * Returns the keys of a refused value that are keys, each once: their providers' settings are
 * checked even so.
 *
 * @param option the option `providers`; undefined: it is not given
 * @param variable `IDP_PROVIDERS`
 */
export function usableKeys(option: unknown, variable: unknown): readonly string[] {
  const names = isObject(option)
    ? Object.keys(option)
    : option === undefined && typeof variable === "string"
      ? listed(variable)
      : [];
  return [...new Set(names)].filter((name) => KEY.test(name));
}

const VARIABLE = /^IDP_PROVIDER_([A-Z][A-Z0-9_]{0,30})_/;

/**
 * Returns whether a variable is a setting of a provider of any key.
 * @param settings the variables of the settings, without a key
 */
export function isOfSomeProvider(variable: string, settings: readonly string[]): boolean {
  return (
    VARIABLE.test(variable) &&
    settings.some((env) => variable.endsWith(`_${env.replace(/^IDP_/, "")}`))
  );
}

/** The start of the names of a provider's variables. */
export function prefixOf(key: string): string {
  return `IDP_PROVIDER_${key.toUpperCase().replaceAll("-", "_")}_`;
}

/** The name of a provider's own variable. @param env the name of the setting's variable */
export function variableOf(key: string, env: string): string {
  return prefixOf(key) + env.replace(/^IDP_/, "");
}

/**
 * Returns the variables of one provider's settings. IDP_PROVIDER_STAFF_CLIENT_CERTIFICATE is the
 * `clientCertificate` of `staff`, and, if there is a `staff-client`, the `certificate` of that one
 * alone. It is the only name with two meanings.
 *
 * @param keys all of them
 */
export function environmentOf<Env extends Readonly<Record<string, unknown>>>(
  key: string,
  keys: readonly string[],
  env: Env,
): Env {
  const longer = `${key}-client`;
  if (!keys.includes(longer)) return env;
  return { ...env, [variableOf(longer, "IDP_CERTIFICATE")]: undefined };
}
