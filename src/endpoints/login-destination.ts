/** Where a login ends: the page that it was asked for, or a page of idpauth's. */
import type { CommonSettings } from "../config/read-settings.js";
import { isOutage, ProviderRefusedError, type ErrorCode } from "../errors.js";
import { loginPath, parametersBackTo } from "../guard/login-url.js";
import { markIf } from "../http/cross-site-parameter.js";
import { parseUrl, type Origin } from "../http/redirects.js";
import { single, type IdpRequest } from "../http/request.js";
import { sameOriginUrl } from "../http/same-origin-url.js";
import type { SignInErrorCode } from "../record/sign-in-errors.js";
import { withoutUndefined } from "../record/without-undefined.js";
import type { Scheme } from "./login-parameters.js";

export interface Destination {
  readonly url: string;
  /** For the record's debug key. */
  readonly decision: "accepted" | "rejected" | "not_used";
}

interface DestinationRequest {
  readonly scheme: Scheme;
  readonly query: URLSearchParams;
  readonly request: IdpRequest;
  /** The application's own. */
  readonly origin: Origin;
}

/** Returns the page that a login leads to, by its scheme. */
export function destinationOf(
  { scheme, query, request, origin }: DestinationRequest,
  settings: CommonSettings,
): Destination {
  const fallback = settings.authFinalRedirectUrl ?? settings.publicPath;
  if (scheme === "LANDING_PAGE" || scheme === "DEFAULT")
    return { url: fallback, decision: "not_used" };
  // The second name is that of OpenID Connect Core section 4.
  const name = query.has("origin_url") ? "origin_url" : "target_link_uri";
  const asked =
    scheme === "PRESERVE_ORIGIN_QP"
      ? single(query, name)
      : { value: request.header("x-origin-url"), repeated: false };
  const accepted = asked.repeated ? undefined : sameOriginUrl(asked.value, origin);
  return accepted === undefined
    ? { url: fallback, decision: "rejected" }
    : { url: accepted, decision: "accepted" };
}

/** A pending login, as far as another one continues it. */
interface ContinuedLogin extends LoginAddresses {
  readonly provider?: string;
  readonly cross_site?: true;
}

/**
 * The address of another login at the same provider, back to the same page. It keeps the mark of a
 * login that another site may have begun.
 */
export function loginAgain(
  login: ContinuedLogin,
  publicPath: string,
  parameters: Readonly<Record<string, string>> = {},
): string {
  const mark = markIf(login.cross_site === true);
  return `${loginPath(publicPath)}?${fieldsAgain(login, { ...parameters, ...mark }).toString()}`;
}

/** The parameters of such a login, without its mark. */
export function fieldsAgain(
  { final_redirect: page, provider, ...login }: ContinuedLogin,
  parameters: Readonly<Record<string, string>>,
): URLSearchParams {
  const absolute = page.startsWith("/") ? `${originOf(login) ?? ""}${page}` : page;
  return parametersBackTo(absolute, { ...withoutUndefined({ provider }), ...parameters });
}

/** Of a pending login. */
interface LoginAddresses {
  readonly final_redirect: string;
  readonly redirect_uri: string;
  readonly origin?: string;
}

/** The origin that a login began at. The callback may arrive at another one first. */
function originOf({ origin, redirect_uri: callback }: Omit<LoginAddresses, "final_redirect">) {
  return origin ?? parseUrl(callback)?.origin;
}

/**
 * Returns the address that a failed login redirects to if its destination is the popup's page: that
 * page tells the window that waits for it. Undefined for any other destination, whose user sees the
 * failure's own page.
 */
export function failureAt(
  login: LoginAddresses,
  code: ErrorCode | SignInErrorCode,
  publicPath: string,
): string | undefined {
  // Both were stored, so they are parsed.
  const origin = originOf(login);
  if (origin === undefined || !URL.canParse(login.final_redirect, origin)) return undefined;
  const url = new URL(login.final_redirect, origin);
  if (url.origin !== origin || url.pathname !== `${publicPath}popup`) return undefined;
  url.searchParams.set("outcome", code === "access_denied" ? "cancelled" : "failed");
  url.searchParams.set("code", code);
  return url.href;
}

/** Returns the code that a user sees of an error of a login. Undefined: the error is a bug. */
export function failureCodeOf(error: unknown): ErrorCode | undefined {
  // Its reason is for the log.
  if (error instanceof ProviderRefusedError) return "sign_in_refused";
  return isOutage(error) ? error.code : undefined;
}
