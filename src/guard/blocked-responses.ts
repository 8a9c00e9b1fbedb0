import type { CommonSettings } from "../config/read-settings.js";
import { ERRORS, type IdpAuthError } from "../errors.js";
import { wantsPage } from "../http/accept.js";
import { linkOnPage } from "../http/cross-site-parameter.js";
import { saysOtherSite } from "../http/initiator.js";
import { json, loginHeader, redirect, type Reply } from "../http/reply.js";
import type { IdpRequest } from "../http/request.js";
import { failureReply, outageOf, retryAfterOf } from "../pages/failure-reply.js";
import type { Pages } from "../pages/pages.js";
import { stepUpParameters, type StepUp } from "../record/authentication-strength.js";
import type { EndReason } from "../record/end-reason.js";
import { withoutUndefined } from "../record/without-undefined.js";
import { htmxHeader } from "./htmx-redirect.js";
import { isNavigation, loginPath, loginUrlBackTo, pageOf, type SeenRequest } from "./login-url.js";

/** The guard blocked a request whose user is not signed in. */
interface BlockedUser<Kind extends "navigation" | "unauthenticated"> {
  /** `navigation`: a browser navigates to a page. `unauthenticated`: any other request. */
  readonly kind: Kind;
  /**
   * The default response: for a navigation 302 to `loginUrl`, else 401, as JSON or, if a form was
   * sent, as a page.
   */
  readonly reply: Reply;
  /** Why the session ended; `no_credentials` if there was none. */
  readonly reason: EndReason;
  /**
   * The path of the login, with the provider that the route requires; for a navigation also with
   * the query that leads back to the requested page. If that login would loop (`prompt=none`), it
   * is the landing page instead.
   */
  readonly loginUrl: string;
  /** The path of the login without a query. */
  readonly loginPath: string;
  /**
   * The application's own origin; undefined when neither BASE_URL nor a usable `Host` header gives
   * it.
   */
  readonly origin: string | undefined;
}

/**
 * The guard blocked a request because the provider or the store is unavailable. The user may still
 * be signed in.
 */
interface BlockedByOutage {
  /** Also the name of the guard's response function for it. */
  readonly kind: "unavailable";
  /** The default response: 503 with Retry-After. */
  readonly reply: Reply;
  /** For the log, not for the user: its `cause` can contain secrets. */
  readonly error: IdpAuthError;
  /** Seconds after which the request may succeed. */
  readonly retryAfter: number;
  /**
   * If only this session waits for the provider: the login, as a new sign-in may succeed at once.
   * For a navigation it leads back to the requested page.
   */
  readonly loginUrl?: string;
}

/**
 * The user is signed in, but the route's `allow` did not return true; or the route's `provider` is a
 * function, which named no provider that exists.
 */
interface BlockedByRule {
  /** Also the name of the guard's response function for it. */
  readonly kind: "forbidden";
  /**
   * The default response: 403, or 404 for such a provider, as a page or as a problem document.
   */
  readonly reply: Reply;
}

/**
 * The user is signed in, but the route requires a more recent or stronger authentication, or one at
 * another provider.
 */
interface BlockedForStepUp {
  /** Also the name of the guard's response function for it. */
  readonly kind: "stepUp";
  /**
   * The default response: for a navigation 302 to `loginUrl`, else 401 (RFC 9470), as JSON or, if a
   * form was sent, as a page.
   */
  readonly reply: Reply;
  /** Whether a browser requested a page. */
  readonly isNavigation: boolean;
  /**
   * The URL of the login that requests the authentication; for a navigation it leads back to the
   * requested page.
   */
  readonly loginUrl: string;
  /**
   * The application's own origin; undefined when neither BASE_URL nor a usable `Host` header gives
   * it.
   */
  readonly origin: string | undefined;
}

/** The request's host isn't the application's, which has several origins. */
interface Misdirected {
  readonly kind: "misdirected";
  /** 421, as a page or as a problem document. The application has no response of its own for it. */
  readonly reply: Reply;
}

type AnyBlocked =
  | BlockedUser<"navigation">
  | BlockedUser<"unauthenticated">
  | BlockedByOutage
  | BlockedByRule
  | BlockedForStepUp
  | Misdirected;

/**
 * Why the guard blocked a request, and the response it proposes.
 *
 * @typeParam Kind the name of the response function that gets it, such as `"stepUp"`
 */
export type Blocked<Kind extends AnyBlocked["kind"] = AnyBlocked["kind"]> = Extract<
  AnyBlocked,
  {
    /** The name of the guard's response function for it. */
    readonly kind: Kind;
  }
>;

/** What a route requires of the sign-in. */
interface RequiredSignIn {
  readonly stepUp?: StepUp | undefined;
  /** The key of the provider. */
  readonly provider?: string | undefined;
}

/** Why a user is not signed in, and what the login has to show. */
interface SignedOutUser extends RequiredSignIn {
  readonly reason: EndReason;
  /** The login would fail without a page of the provider, and lead back to the guard. */
  readonly loops?: boolean;
}

/** What a response to a blocked request is made from. */
interface ReplyParts {
  readonly settings: CommonSettings;
  readonly pages: Pages;
}

/**
 * The block of a signed-out user: a navigation is redirected to the login and back to its page, any
 * other request gets 401.
 * The login requests what the route requires, so that the user signs in once and not twice.
 */
export async function blockedUser(
  seen: SeenRequest,
  { reason, stepUp = {}, provider, loops = false }: SignedOutUser,
  { settings, pages }: ReplyParts,
): Promise<Blocked> {
  const { request, origin } = seen;
  const { publicPath, pathPrefix } = settings;
  const about = { reason, loginPath: loginPath(publicPath), origin };
  const at = withoutUndefined({ provider });
  const loginBackTo = (page: string | undefined) =>
    loops
      ? `${publicPath}?error=login_required`
      : loginUrlBackTo(about.loginPath, page, { ...at, ...stepUpParameters(stepUp) });
  if (!isNavigation(request)) {
    const loginUrl = loginPath(publicPath, at);
    const error = "login_required";
    const body = { authenticated: false, user: null, error, reason, login_url: loginUrl };
    const headers = htmxHeader(seen, settings, loginBackTo);
    const reply = await unauthorized(request, pages, { code: error, body, loginUrl, headers });
    return { kind: "unauthenticated", reply, loginUrl, ...about };
  }
  const loginUrl = markedFor(request, loginBackTo(pageOf(request, origin, pathPrefix)));
  return { kind: "navigation", reply: redirect(loginUrl), loginUrl, ...about };
}

/**
 * The block of a request in an outage: 503, as a page or as a problem document.
 *
 * @param outage `provider`: the key of the provider that the route requires
 */
export async function blockedByOutage(
  { request, origin }: SeenRequest,
  { error, provider }: { readonly error: IdpAuthError; readonly provider: string | undefined },
  { settings: { publicPath, pathPrefix }, pages }: ReplyParts,
): Promise<Blocked<"unavailable">> {
  const login = isNavigation(request)
    ? loginUrlBackTo(
        loginPath(publicPath),
        pageOf(request, origin, pathPrefix),
        withoutUndefined({ provider }),
      )
    : loginPath(publicPath, withoutUndefined({ provider }));
  // "Try again" would reach the guard as the application's own, and this guard's login may replace
  // the session.
  const action = provider !== undefined && saysOtherSite(request) ? null : undefined;
  const failure = { ...outageOf(error, login), isUnprocessed: true, action };
  const { loginUrl } = failure;
  return withoutUndefined({
    kind: "unavailable",
    reply: await failureReply(failure, request, { pages, otherwise: "json" }),
    error,
    retryAfter: retryAfterOf(error),
    loginUrl,
  });
}

/** The login's URL with the mark, since the application may show it as a link on a page of its own. */
function markedFor(request: IdpRequest, loginUrl: string): string {
  return saysOtherSite(request) ? linkOnPage(request, loginUrl) : loginUrl;
}

interface Unauthorized {
  readonly code: "login_required" | "insufficient_user_authentication";
  readonly body: Readonly<Record<string, unknown>>;
  readonly loginUrl: string;
  /** Besides `X-Idpauth-Login`. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The response 401: JSON for a script, a page for a form. */
async function unauthorized(
  request: IdpRequest,
  pages: Pages,
  { code, body, loginUrl, headers: others }: Unauthorized,
): Promise<Reply> {
  const headers = { ...loginHeader(loginUrl), ...others };
  if (!wantsPage(request)) return json(body, 401, headers);
  const label = code === "login_required" ? "action.signIn" : "action.signInAgain";
  return pages.error(
    { code, action: { label, href: linkOnPage(request, loginUrl) } },
    request,
    headers,
  );
}

/**
 * The block of a signed-in user who must authenticate again: a login, or the challenge of RFC 9470
 * section 3.
 */
export async function blockedForStepUp(
  seen: SeenRequest,
  { stepUp = {}, provider }: RequiredSignIn,
  { settings, pages }: ReplyParts,
): Promise<Blocked<"stepUp">> {
  const { request, origin } = seen;
  const { publicPath, pathPrefix } = settings;
  const parameters = { ...withoutUndefined({ provider }), ...stepUpParameters(stepUp) };
  const loginBackTo = (page: string | undefined) =>
    loginUrlBackTo(loginPath(publicPath), page, parameters);
  if (isNavigation(request)) {
    const loginUrl = markedFor(request, loginBackTo(pageOf(request, origin, pathPrefix)));
    return { kind: "stepUp", reply: redirect(loginUrl), isNavigation: true, loginUrl, origin };
  }
  const error = "insufficient_user_authentication";
  const loginUrl = loginPath(publicPath, parameters);
  const challenge = [
    ["error", error],
    ["error_description", ERRORS[error].title],
    ...Object.entries(parameters),
  ];
  const reply = await unauthorized(request, pages, {
    code: error,
    body: { authenticated: true, error, ...parameters, login_url: loginUrl },
    loginUrl,
    headers: {
      "WWW-Authenticate": `Bearer ${challenge.map(([name = "", value = ""]) => `${name}="${value.replace(/["\\]/g, "\\$&")}"`).join(", ")}`,
      ...htmxHeader(seen, settings, loginBackTo),
    },
  });
  return { kind: "stepUp", reply, isNavigation: false, loginUrl, origin };
}
