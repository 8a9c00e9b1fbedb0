/**
 * The cookie that a logout leaves if another site started it. Such a site could continue with a
 * login, and so replace the user's account with another one in two navigations. While the browser
 * has this cookie, a login that another site may have started asks the user first.
 */
import type { SessionRequest } from "../access/session-request.js";
import type { CommonSettings } from "../config/read-settings.js";
import { CROSS_SITE } from "../http/cross-site-parameter.js";
import { initiatorOf } from "../http/initiator.js";
import { isSecure } from "../http/own-origin.js";
import { queryOf, type IdpRequest } from "../http/request.js";
import { cookieNameFor, hasCookie, setCookie } from "../sessions/cookie.js";

/** Seconds for which the browser keeps the cookie. Our decision. */
const COOKIE_SECONDS = 600;

/** No path can contain `+`, so this is never the session cookie of another mount path. */
const cookieName = ({ cookieName, publicPath }: CommonSettings, secure: boolean) =>
  `${cookieNameFor(cookieName, publicPath, secure)}+signed-out`;

/**
 * Whether a page of another site began a logout. Browsers without `Sec-Fetch-Site` say nothing, and
 * our own page marks the link that begins the logout again.
 */
export function isByOtherSite(request: IdpRequest): boolean {
  return (
    request.header("sec-fetch-site") === "cross-site" ||
    new URLSearchParams(queryOf(request.target)).has(CROSS_SITE)
  );
}

/** Whether another site has signed the user of this browser out, and the user has not decided. */
export function wasSignedOutByOtherSite(
  { request }: SessionRequest,
  settings: CommonSettings,
): boolean {
  return hasCookie(request.header("cookie"), cookieName(settings, isSecure(request, settings)));
}

/** Returns the `Set-Cookie` values after a logout, or after a sign-in that the user has chosen. */
export function withDecision(opened: SessionRequest, settings: CommonSettings): readonly string[] {
  const { setCookies } = opened.session;
  return wasSignedOutByOtherSite(opened, settings)
    ? [...setCookies, cookieOf(opened, settings, 0)]
    : setCookies;
}

/**
 * Returns the `Set-Cookie` values after a logout. A missing `Sec-Fetch-Site` does not count as
 * another site, because browsers without it send no other logouts.
 */
export function cookiesAfterLogout(
  opened: SessionRequest,
  settings: CommonSettings,
  hasEnded: boolean,
): readonly string[] {
  const { request, session } = opened;
  const isOther = isByOtherSite(request);
  if (hasEnded && isOther)
    return [...session.setCookies, cookieOf(opened, settings, COOKIE_SECONDS)];
  return isOther || initiatorOf(request) === "other"
    ? session.setCookies
    : withDecision(opened, settings);
}

function cookieOf({ request }: SessionRequest, settings: CommonSettings, maxAge: number): string {
  const secure = isSecure(request, settings);
  return setCookie({
    name: cookieName(settings, secure),
    value: maxAge === 0 ? "" : "1",
    maxAge,
    secure,
  });
}
