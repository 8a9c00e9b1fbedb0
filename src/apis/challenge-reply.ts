/** The response to a user who needs another login before an API can be used. */
import type { SessionRequest } from "../access/session-request.js";
import { epochSeconds, type Clock } from "../clock.js";
import { htmxHeader } from "../guard/htmx-redirect.js";
import { isNavigation, loginUrlBackTo, pageOf } from "../guard/login-url.js";
import { wantsPage } from "../http/accept.js";
import { linkOnPage } from "../http/cross-site-parameter.js";
import { json, loginHeader, redirect, type Reply } from "../http/reply.js";
import type { Pages } from "../pages/pages.js";
import { hasJustAskedFor } from "../record/why-no-api-token.js";
import type { Challenge } from "./challenge.js";

interface ReplyParts {
  readonly settings: { readonly pathPrefix: string };
  readonly pages: Pages;
  readonly clock: Clock;
}

/** A login that an API needs. */
export interface DemandedLogin {
  readonly challenge: Challenge;
  /** The name of the API, which the login requests. */
  readonly api: string;
  /** The path of the login, with its parameters. */
  readonly loginUrl: string;
}

/**
 * A navigation is redirected to the login and back, but not twice if the login doesn't help: then
 * it gets a page, as a form does. A script gets JSON in the guard's form, which `idpauth/client`
 * knows, and htmx also the redirect, once.
 */
export async function challengeReply(
  { challenge: { status, error, parameters }, api, loginUrl }: DemandedLogin,
  { request, origin, session }: SessionRequest,
  { settings, pages, clock }: ReplyParts,
): Promise<Reply> {
  const [path = "", query] = loginUrl.split("?", 2);
  const loginBackTo = (page: string | undefined) =>
    loginUrlBackTo(path, page, Object.fromEntries(new URLSearchParams(query)));
  // Known from the record, because another process may have started the login.
  const mayHelp = async () => {
    const record = await session.read();
    return !record || !hasJustAskedFor(record, api, epochSeconds(clock));
  };
  if (!wantsPage(request)) {
    const body = { authenticated: true, error, ...parameters, login_url: loginUrl };
    const redirects = htmxHeader({ request, origin }, settings, loginBackTo);
    return json(body, status, {
      ...loginHeader(loginUrl),
      ...(redirects["HX-Redirect"] !== undefined && (await mayHelp()) && redirects),
      "WWW-Authenticate": `Bearer error="${error}"`,
    });
  }
  const back = loginBackTo(pageOf(request, origin, settings.pathPrefix));
  if (isNavigation(request) && (await mayHelp())) return redirect(back);
  const action = {
    label: "action.signInAgain",
    href: linkOnPage(request, isNavigation(request) ? back : loginUrl),
  } as const;
  return pages.error(
    { code: "insufficient_user_authentication", action },
    request,
    loginHeader(loginUrl),
  );
}
