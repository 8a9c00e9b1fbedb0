import * as kind from "./setting-kinds.js";
import { type SettingKind } from "./setting-kinds.js";
import { setting, type RowsOfOptions } from "./setting-row.js";

/** Auth0's profile can't recognize a custom domain. */
const logoutPreset = (value: unknown) => (value === "auth0" ? value : undefined);

const logoutAtProvider: SettingKind<boolean | "auth0"> = {
  type: "boolean or choice",
  allowed: "`auth0`, or true, false, 1, 0, yes, no, on or off, in any letter case",
  allowedInCode: "true, false or `auth0`",
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
} as const satisfies Partial<RowsOfOptions>;
