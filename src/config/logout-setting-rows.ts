import * as kind from "./setting-kinds.js";
import type { SettingKind, SettingRow } from "./setting-kinds.js";

const LOGOUT_PRESETS = ["auth0", "cognito"] as const;
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

/** The settings of logout beyond this browser: at the provider, from the provider, and on other devices. */
export const LOGOUT_SETTINGS = {
  logoutAtProvider: {
    env: "IDP_LOGOUT_AT_PROVIDER",
    kind: logoutAtProvider,
    default: false,
    meaning:
      "Whether a logout also ends the provider's session (OpenID Connect RP-Initiated Logout 1.0). The browser goes to the provider's " +
      "`end_session_endpoint` and comes back to `logout-callback`. Register the address of `logout-callback` at the provider. " +
      "With `auth0` or `cognito`, idpauth uses the logout address of Auth0 or Amazon Cognito instead.",
  },
  backchannelLogout: {
    env: "IDP_BACKCHANNEL_LOGOUT",
    kind: kind.boolean,
    default: false,
    meaning:
      "Whether the provider may end sessions with a request to `backchannel-logout` (OpenID Connect Back-Channel Logout 1.0). " +
      'It does not work with `session: "host"` (E020).',
  },
  frontchannelLogout: {
    env: "IDP_FRONTCHANNEL_LOGOUT",
    kind: kind.boolean,
    default: false,
    meaning:
      "Whether the provider may end sessions with a frame that loads `frontchannel-logout` (OpenID Connect Front-Channel Logout 1.0). " +
      'It does not work with `session: "host"` (E020).',
  },
  sessionsPage: {
    env: "IDP_SESSIONS_PAGE",
    kind: kind.boolean,
    default: false,
    meaning:
      "Whether idpauth serves the page `sessions`, on which users see and end their sessions. " +
      'It does not work with `session: "host"` (E020).',
  },
  events: {
    env: "IDP_EVENTS",
    kind: kind.boolean,
    default: false,
    meaning:
      "Whether idpauth serves the event stream `events`, which tells a page at once that its session has ended. " +
      "Each visible page keeps one request open. With HTTP/1.1 a browser opens at most six connections to an origin.",
  },
  allowUntypedLogoutTokens: {
    env: "IDP_ALLOW_UNTYPED_LOGOUT_TOKENS",
    kind: kind.boolean,
    default: false,
    meaning:
      "Whether idpauth accepts logout tokens without the header `typ: logout+jwt`. Turn it on only if your provider omits the header.",
  },
} as const satisfies Record<string, SettingRow>;
