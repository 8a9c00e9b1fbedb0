import type { Settings } from "../../config/read-settings.js";
import { cookieNameFor } from "../../sessions/cookie.js";
import type { CookieFacts } from "./facts.js";

/** The cookie of bundled sessions, as BASE_URL makes it; null: BASE_URL is unset, so each request's scheme decides. Pure. */
export function cookieFact({ baseUrl, cookieName, publicPath }: Settings): CookieFacts | null {
  if (baseUrl === null) return null;
  const secure = baseUrl.startsWith("https:");
  return { name: cookieNameFor(cookieName, publicPath, secure), path: "/", httpOnly: true, sameSite: "Lax", secure };
}
