import { check } from "../../core/checks.js";
import type { Finding } from "../../core/errors.js";
import type { Settings } from "../../core/settings.js";
import { cookieNameFor } from "../../sessions/cookie.js";
import type { CookieFacts } from "./facts.js";

/** The cookie of bundled sessions, as BASE_URL makes it; null: BASE_URL is unset, so each request's scheme decides. Pure. */
export function judgeCookie({ baseUrl, cookieName, publicPath }: Settings): {
  readonly fact: CookieFacts | null;
  readonly findings: readonly Finding[];
} {
  if (baseUrl === null) return { fact: null, findings: [] };
  const secure = baseUrl.startsWith("https:");
  const name = cookieNameFor(cookieName, publicPath, secure);
  const findings = secure && !/^__host-/i.test(name) ? [check("W109")] : [];
  return { fact: { name, path: "/", httpOnly: true, sameSite: "Lax", secure }, findings };
}
