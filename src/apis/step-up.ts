/** The response to a user who needs another login before an API can be used. */
import type { SessionRequest } from "../access/session-access.js";
import { epochSeconds, type Clock } from "../clock.js";
import { isNavigation, loginHeader, loginUrlBackTo, pageOf } from "../guard/blocked.js";
import { wantsPage } from "../http/accept.js";
import { json, redirect, type Reply } from "../http/reply.js";
import type { Pages } from "../pages/pages.js";
import type { UserSession } from "../ports/user-session.js";
import type { Challenge } from "./challenge.js";

interface StepUpParts {
  readonly settings: { readonly pathPrefix: string };
  readonly pages: Pages;
  readonly clock: Clock;
}

/** Seconds after a login in which the same demand isn't met by another one. */
const JUST_NOW = 60;

/** How many demands are remembered. */
const MOST_DEMANDS = 1_000;

/** The sessions in which a navigation was last redirected to a login, by user and demand. */
const redirects = new WeakMap<Pages, Map<string, string | undefined>>();

/**
 * A navigation is redirected to the login and back, but not twice if the login doesn't help: then
 * it gets a page, as a form does. A script gets JSON in the guard's form, which `idpauth/client`
 * knows.
 *
 * @param loginUrl path of the login, with its parameters
 */
export async function stepUpReply(
  { status, error, parameters }: Challenge,
  loginUrl: string,
  { request, origin, session }: SessionRequest,
  parts: StepUpParts,
): Promise<Reply> {
  const { settings, pages } = parts;
  if (!wantsPage(request)) {
    const body = { authenticated: true, error, ...parameters, login_url: loginUrl };
    const challenge = { "WWW-Authenticate": `Bearer error="${error}"` };
    return json(body, status, { ...loginHeader(loginUrl), ...challenge });
  }
  const [path = "", query] = loginUrl.split("?", 2);
  const page = pageOf(request, origin, settings.pathPrefix);
  const back = loginUrlBackTo(path, page, Object.fromEntries(new URLSearchParams(query)));
  const isFirst = isNavigation(request) && (await helps(session, loginUrl, parts));
  if (isFirst) return redirect(back);
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

/** Whether the user hasn't just come back from this login. Remembers that it is tried. */
async function helps(
  session: UserSession,
  loginUrl: string,
  { pages, clock }: StepUpParts,
): Promise<boolean> {
  const known = redirects.get(pages) ?? new Map<string, string | undefined>();
  redirects.set(pages, known);
  const record = await session.read();
  const demand = JSON.stringify([record?.id_info?.iss, record?.id_info?.sub, loginUrl]);
  // A sign-in changes the session's key.
  const hasSignedIn = known.has(demand) && known.get(demand) !== session.key;
  if (hasSignedIn && epochSeconds(clock) - Number(record?.idp_login_at) < JUST_NOW) return false;
  const [oldest] = known.keys();
  if (known.size >= MOST_DEMANDS && oldest !== undefined) known.delete(oldest);
  known.delete(demand);
  known.set(demand, session.key);
  return true;
}
