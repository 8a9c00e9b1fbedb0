/** Several providers: their keys, and the names of their settings. */
import type { Finding } from "../errors.js";
import { text, type SettingKind, type SettingRow } from "./setting-kinds.js";

/** The settings of which each of several providers has its own, never those without its key. */
const ONLY_OWN = [
  "issuer",
  "discoveryUrl",
  "clientId",
  "clientSecret",
  "privateKey",
  "certificate",
  "providerMetadata",
] as const;

/** Those that apply to every provider which has none of its own. */
const INHERITED = [
  "clientAssertionAudience",
  "allowedTenants",
  "scope",
  "tokenEndpointAuthMethod",
  "refreshWithoutIdToken",
  "userinfo",
  "loginPrompt",
  "authorizationParams",
  "pushedRequests",
  "trustedAudiences",
  "logoutAtProvider",
  "backchannelLogout",
  "frontchannelLogout",
  "allowUntypedLogoutTokens",
] as const;

export type ProviderSettingName = (typeof ONLY_OWN | typeof INHERITED)[number];

/** The settings that each of several providers may have of its own. */
export const PROVIDER_SETTING_NAMES: readonly ProviderSettingName[] = [...ONLY_OWN, ...INHERITED];

export function isInherited(name: ProviderSettingName): boolean {
  return (INHERITED as readonly string[]).includes(name);
}

/** What users read in place of a provider's key. Only one of several providers has it. */
export const PROVIDER_NAME: SettingRow = { env: "IDP_NAME", kind: text };

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
  fromText: (list) => keysIn(list.split(/[\s,]+/).filter((key) => key !== "")),
  fromCode: (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    return Object.values(value).every((member) => typeof member === "object" && member !== null)
      ? keysIn(Object.keys(value))
      : undefined;
  },
};

function keysIn(keys: readonly string[]): readonly string[] | undefined {
  return keys.length > 0 && new Set(keys).size === keys.length && keys.every((key) => KEY.test(key))
    ? keys
    : undefined;
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
 * Gives a finding the names of a provider's own settings.
 * @param settings from the variables of these settings to their options
 */
export function ofProvider(
  key: string,
  settings: ReadonlyMap<string, string>,
  finding: Finding,
): Finding {
  const renamed = (words: string) =>
    words
      .replace(/\b[A-Z][A-Z_]{4,}\b/g, (name) =>
        settings.has(name) ? variableOf(key, name) : name,
      )
      .replace(/\(option (\w+)\)/g, (whole, option: string) =>
        [...settings.values()].includes(option) ? `(option providers.${key}.${option})` : whole,
      );
  return {
    ...finding,
    message: `Provider ${key}: ${renamed(finding.message)}`,
    remedy: renamed(finding.remedy),
  };
}
