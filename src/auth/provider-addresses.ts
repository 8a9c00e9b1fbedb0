/** The addresses that a customer's administrator registers at their provider. */
import { isSourceKey } from "../config/provider-source.js";
import type { CommonSettings, Settings } from "../config/read-settings.js";
import { isKnownOrigin, severalOrigins } from "../http/own-origin.js";
import { parseUrl } from "../http/redirects.js";

/** The addresses of one provider's endpoints, each absolute. */
export interface ProviderAddresses {
  /** Where the provider sends the user after a login (`redirect_uri`). */
  readonly redirectUri: string;
  /** Where a login at this provider begins (`initiate_login_uri`). */
  readonly loginUrl: string;
  /** The public half of the provider's private key, if its settings have one. */
  readonly jwks: string;
  /** Where the provider sends the user after a logout. Absent: `logoutAtProvider` is off. */
  readonly logoutCallback?: string;
  /** Absent: `backchannelLogout` is off. */
  readonly backchannelLogout?: string;
  /** Absent: `frontchannelLogout` is off. */
  readonly frontchannelLogout?: string;
}

/**
 * @param origin default: that of BASE_URL
 * @throws TypeError the key has a wrong form, or the origin is missing or is none
 */
export function addressesOf(
  key: string,
  origin: string | undefined,
  { settings, inherited }: { settings: CommonSettings; inherited: Partial<Settings> },
): ProviderAddresses {
  if (!isSourceKey(key))
    throw new TypeError(
      "providerAddresses: the key has at most 63 lowercase letters, digits and hyphens, starting with a letter.",
    );
  const base = origin ?? settings.baseUrl;
  assertOrigin("providerAddresses", base);
  if (severalOrigins(settings)?.list !== undefined && !isKnownOrigin(base, settings))
    throw new TypeError("providerAddresses: `origin` isn't one of BASE_URL.");
  const at = (path: string) => `${base}${settings.publicPath}${path}`;
  const { logoutAtProvider, backchannelLogout, frontchannelLogout } = inherited;
  return {
    redirectUri: `${settings.callbackOrigin ?? base}${settings.publicPath}login-callback/${key}`,
    loginUrl: at(`login/?provider=${key}`),
    jwks: at(`jwks/${key}`),
    ...(logoutAtProvider && { logoutCallback: at("logout-callback") }),
    ...(backchannelLogout && { backchannelLogout: at(`backchannel-logout/${key}`) }),
    ...(frontchannelLogout && { frontchannelLogout: at(`frontchannel-logout/${key}`) }),
  };
}

/** @throws TypeError it isn't an http(s) origin */
export function assertOrigin(caller: string, origin: unknown): asserts origin is string {
  if (typeof origin !== "string" || parseUrl(origin)?.origin !== origin || !/^https?:/.test(origin))
    throw new TypeError(
      `${caller}: pass \`origin\`, such as \`https://app.example.com\`, or set BASE_URL to one origin.`,
    );
}
