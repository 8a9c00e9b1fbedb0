import { randomBytes } from "node:crypto";
import {
  readSettings,
  SETTINGS,
  type Environment,
  type SettingName,
} from "../../config/read-settings.js";
import type { ProviderTarget } from "../../live/check-provider.js";

/** The settings without those that were refused. */
type UsableSettings = Pick<ProviderTarget, "settings" | "refused">;

/**
 * All settings. The first ones decide which values of other settings are allowed, and the last one
 * is allowed only with certain values of others.
 */
const NAMES = [
  ...new Set<SettingName>([
    "debug",
    "baseUrl",
    "privateKey",
    "signedRequests",
    "clientCertificate",
    "clientCertificateKey",
    "tokenEndpointAuthMethod",
    "responseMode",
    ...(Object.keys(SETTINGS) as SettingName[]).filter((name) => name !== "fapi"),
    "fapi",
  ]),
];

/** A setting that may be usable with another one only. */
const TOGETHER: Readonly<Partial<Record<SettingName, SettingName>>> = {
  issuer: "allowedTenants",
  appleTeamId: "appleKeyId",
  clientCertificate: "clientCertificateKey",
};

/** Whether a value replaces the client's secret. */
function replacesSecret(name: SettingName, value: string): boolean {
  return (
    (name === "privateKey" && value.trim() !== "") ||
    (name === "tokenEndpointAuthMethod" && value.endsWith("tls_client_auth"))
  );
}

/**
 * Reads the settings one by one and skips refused settings, so that one mistake does not prevent
 * the other checks.
 */
export function usableSettings(env: Environment): UsableSettings {
  const refused = new Set<SettingName>();
  let taken: Environment = placeholders();
  for (const name of NAMES) {
    const { env: variable, required } = SETTINGS[name];
    const value = env[variable];
    if (value === undefined) {
      // A usable key, or a certificate, replaces the secret.
      if (required === true && taken[variable] !== "") refused.add(name);
      continue;
    }
    const partner = TOGETHER[name];
    const both = partner && { [SETTINGS[partner].env]: env[SETTINGS[partner].env] };
    const withoutSecret = replacesSecret(name, value) && { [SETTINGS.clientSecret.env]: "" };
    const tried = [
      { ...taken, [variable]: value, ...withoutSecret },
      ...(both ? [{ ...taken, [variable]: value, ...both }] : []),
    ];
    const usable = tried.find((one) => readSettings({}, one).settings !== undefined);
    if (usable === undefined) refused.add(name);
    else taken = usable;
  }
  const [provider] = readSettings({}, taken).providers;
  if (provider === undefined)
    throw new TypeError("The settings that were taken one by one can't be read together.");
  return { settings: provider.settings, refused };
}

/** Returns random values for the required settings. They are never sent. */
function placeholders(): Environment {
  return Object.fromEntries(
    NAMES.filter((name) => SETTINGS[name].required === true).map((name) => [
      SETTINGS[name].env,
      randomBytes(32).toString("base64url"),
    ]),
  );
}
