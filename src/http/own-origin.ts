/** The application's own origin, as BASE_URL, the browser or a trusted proxy says. */
import { seenHost, seenScheme } from "./forwarded-headers.js";
import type { Origins } from "./origins.js";
import { requestOrigin, type Origin } from "./redirects.js";
import type { IdpRequest } from "./request.js";

export interface AddressSettings {
  /** One origin, or several. Null: the request's own. */
  readonly baseUrl: string | Origins | null;
  /** Forwarded headers are used only if this setting, or the framework's own setting, allows it. */
  readonly trustProxy: boolean;
}

/**
 * Returns the application's origin. Undefined: BASE_URL isn't set and the Host header can't be
 * used, or there are several origins and the host is none of them.
 */
export function ownOrigin(
  request: IdpRequest,
  { baseUrl, trustProxy }: AddressSettings,
): Origin | undefined {
  if (typeof baseUrl === "string") return baseUrl;
  return baseUrl === null
    ? requestOrigin(seenScheme(request, trustProxy), seenHost(request, trustProxy))
    : baseUrl.of(request, trustProxy);
}

/** Returns whether the browser uses https. */
export function isSecure(request: IdpRequest, settings: AddressSettings): boolean {
  return settings.baseUrl === null
    ? seenScheme(request, settings.trustProxy) === "https"
    : ownOrigin(request, settings)?.startsWith("https:") === true;
}

/**
 * Returns whether an origin is known to be the application's: without BASE_URL, and with a function,
 * none is.
 */
export function isKnownOrigin(origin: Origin, settings: Pick<AddressSettings, "baseUrl">): boolean {
  const { baseUrl } = settings;
  return baseUrl === origin || severalOrigins(settings)?.has(origin) === true;
}

/** The several origins of an application. Undefined: it has one, or the request's own. */
export function severalOrigins({ baseUrl }: Pick<AddressSettings, "baseUrl">): Origins | undefined {
  return typeof baseUrl === "string" ? undefined : (baseUrl ?? undefined);
}

/** Returns whether there are several origins, and the request's host belongs to none of them. */
export function isAtUnknownHost(request: IdpRequest, settings: AddressSettings): boolean {
  return severalOrigins(settings) !== undefined && ownOrigin(request, settings) === undefined;
}
