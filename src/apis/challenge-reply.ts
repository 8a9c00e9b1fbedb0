/** The response to a user who needs another login before an API can be used. */
import type { SessionRequest } from "../access/session-request.js";
import { epochSeconds, type Clock } from "../clock.js";
import { isNavigation, loginHeader, loginUrlBackTo, pageOf } from "../guard/login-url.js";
import { wantsPage } from "../http/accept.js";
import { json, redirect, type Reply } from "../http/reply.js";
import type { Pages } from "../pages/pages.js";
import { hasJustAskedFor } from "../record/missing-api-tokens.js";
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
 * knows.
 */
export async function challengeReply(
  { challenge: { status, error, parameters }, api, loginUrl }: DemandedLogin,
  { request, origin, session }: SessionRequest,
  { settings, pages, clock }: ReplyParts,
): Promise<Reply> {
  if (!wantsPage(request)) {
    const body = { authenticated: true, error, ...parameters, login_url: loginUrl };
    return json(body, status, {
      ...loginHeader(loginUrl),
      "WWW-Authenticate": `Bearer error="${error}"`,
    });
  }
  const [path = "", query] = loginUrl.split("?", 2);
  const page = pageOf(request, origin, settings.pathPrefix);
  const back = loginUrlBackTo(path, page, Object.fromEntries(new URLSearchParams(query)));
  if (isNavigation(request)) {
    // Known from the record, because another process may have started the login.
    const record = await session.read();
    if (!record || !hasJustAskedFor(record, api, epochSeconds(clock))) return redirect(back);
  }
  const action = {
    label: "action.signInAgain",
    href: isNavigation(request) ? back : loginUrl,
  } as const;
  return pages.error(
    { code: "insufficient_user_authentication", action },
    request,
    loginHeader(loginUrl),
  );
}
