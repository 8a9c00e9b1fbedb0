import type { KnownProvider } from "./provider-profiles.js";
import * as kind from "./setting-kinds.js";
import { type SettingKind } from "./setting-kinds.js";
import { setting, type RowsOfOptions } from "./setting-row.js";

/** The providers with a logout address of their own. */
const LOGOUT_PRESETS = ["auth0", "cognito"] as const satisfies readonly KnownProvider[];
type LogoutPreset = (typeof LOGOUT_PRESETS)[number];

const logoutPreset = (value: unknown) => LOGOUT_PRESETS.find((preset) => preset === value);

/** A boolean, or the name of a provider that has its own kind of logout address. */
const logoutAtProvider: SettingKind<boolean | LogoutPreset> = {
  type: "boolean or choice",
  allowed: "`auth0`, `cognito`, or true, false, 1, 0, yes, no, on or off, in any letter case",
  allowedInCode: "true, false, `auth0` or `cognito`",
  fromText: (text) => logoutPreset(text.toLowerCase()) ?? kind.boolean.fromText(text),
  fromCode: (value) => logoutPreset(value) ?? kind.boolean.fromCode(value),
};

/**
 * The settings of logout beyond this browser: at the provider, from the provider, and on other
 * devices.
 */
export const LOGOUT_SETTINGS = {
  logoutAtProvider: setting(logoutAtProvider, false, { per: "inherited" }),
  backchannelLogout: setting(kind.boolean, false, { per: "inherited" }),
  frontchannelLogout: setting(kind.boolean, false, { per: "inherited" }),
  sessionsPage: setting(kind.boolean, false),
  events: setting(kind.boolean, false),
  allowUntypedLogoutTokens: setting(kind.boolean, false, { per: "inherited" }),
} as const satisfies Partial<RowsOfOptions>;
