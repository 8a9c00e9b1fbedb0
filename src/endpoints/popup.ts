import { queryOf, single } from "../http/request.js";
import { script, type Reply } from "../http/reply.js";
import { epochSeconds } from "../clock.js";
import { POPUP_SCRIPT } from "../pages/popup-page.js";
import { judge } from "../record/session-policy.js";
import type { EndpointContext } from "./context.js";
import type { BadParameter } from "../pages/failure-reply.js";
import type { SessionRequest } from "../access/session-request.js";

/**
 * A random id with which the page that opened a popup recognizes its message. It has no authority:
 * that page asks the server.
 */
const ATTEMPT = /^[\w-]{16,64}$/;

/** Returns what is wrong with the parameters of a login in a popup. */
export function badPopupParameters(query: URLSearchParams): readonly BadParameter[] {
  const bad: BadParameter[] = [];
  if (query.has("scheme") || query.has("origin_url") || query.has("target_link_uri")) {
    const reason =
      "A login with response=popup returns to its own page, so it takes no scheme and no origin_url";
    bad.push({ name: "scheme", options: [], reason });
  }
  if (query.has("attempt") && popupQuery(query) === "") {
    const reason =
      "The parameter attempt takes one value of 16 to 64 letters, digits, hyphens and underscores";
    bad.push({ name: "attempt", options: [], reason });
  }
  return bad;
}

/** Returns the query of the page on which a login in a popup ends: empty, or the valid attempt. */
export function popupQuery(query: URLSearchParams): string {
  const { value: attempt = "", repeated } = single(query, "attempt");
  return !repeated && ATTEMPT.test(attempt) ? `?attempt=${attempt}` : "";
}

/**
 * GET {mountPath}popup: the page on which a login in a popup ends. If the user is signed in, its
 * script tells the application and closes it.
 */
export async function popup(
  { request, session }: SessionRequest,
  { settings, pages, clock }: EndpointContext,
): Promise<Reply> {
  const { publicPath } = settings;
  const isSignedIn = judge(await session.read(), settings, epochSeconds(clock)).kind !== "ended";
  const query = new URLSearchParams([
    ["response", "popup"],
    ...new URLSearchParams(popupQuery(new URLSearchParams(queryOf(request.target)))),
  ]);
  const loginHref = `${publicPath}login/?${query.toString()}`;
  return pages.popup(
    { isSignedIn, loginHref, homeHref: settings.authFinalRedirectUrl ?? publicPath },
    request,
  );
}

/** GET {mountPath}popup.js: the script of that page. */
export function popupScript(): Promise<Reply> {
  return Promise.resolve(script(POPUP_SCRIPT));
}
