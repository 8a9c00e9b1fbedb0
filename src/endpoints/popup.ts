import type { SessionRequest } from "../access/session-request.js";
import { epochSeconds } from "../clock.js";
import { isOutage } from "../errors.js";
import { loginPath, loginUrlBackTo } from "../guard/login-url.js";
import { markIf } from "../http/cross-site-parameter.js";
import { initiatorOf } from "../http/initiator.js";
import { script, type Reply } from "../http/reply.js";
import { queryOf, single } from "../http/request.js";
import { popupPage, type PopupModel } from "../pages/popup-page.js";
import { judge } from "../record/session-policy.js";
import type { EndpointContext } from "./context.js";

/**
 * A random id with which the page that opened a popup recognizes its message. It has no authority:
 * that page asks the server.
 */
const ATTEMPT = /^[\w-]{16,64}$/;

/**
 * GET {mountPath}popup: the page on which a login in a popup ends. Its script tells the application
 * how it ended, and closes it.
 */
export async function popup(
  { request, session, origin }: SessionRequest,
  { settings, pages, clock }: EndpointContext,
): Promise<Reply> {
  const { publicPath } = settings;
  const query = new URLSearchParams(queryOf(request.target));
  const { value: attempt = "", repeated } = single(query, "attempt");
  const kept = !repeated && ATTEMPT.test(attempt) ? `?attempt=${attempt}` : "";
  const hasFailed = ["cancelled", "failed"].includes(query.get("outcome") ?? "");
  const isSignedIn = async () =>
    judge(await session.read(), settings, epochSeconds(clock)).kind !== "ended";
  const login = loginPath(publicPath);
  // Another site may have started the login that failed, or have written the address of this page.
  // With single sign-on, the provider would send the same user again.
  const parameters = hasFailed
    ? { select_account: "true", ...markIf(true) }
    : markIf(initiatorOf(request) === "other");
  const model: PopupModel = {
    // The outage that a login failed in must not keep this page from telling it.
    isSignedIn: hasFailed ? await isSignedIn().catch(unknownInOutage) : await isSignedIn(),
    failure: hasFailed ? (query.get("code") ?? "") : undefined,
    loginHref: loginUrlBackTo(
      login,
      origin === undefined ? undefined : `${origin}${publicPath}popup${kept}`,
      parameters,
    ),
    homeHref: settings.authFinalRedirectUrl ?? publicPath,
  };
  return pages.own(request, (texts) => popupPage(model, texts));
}

function unknownInOutage(error: unknown): undefined {
  if (!isOutage(error)) throw error;
}

/**
 * Tells the application's pages how the login ended. The message is only a hint: the pages ask the
 * server. When a page responds, the script closes the window. If no page is left, the window stays.
 * The browser may refuse to close it, for example because the provider sets
 * Cross-Origin-Opener-Policy.
 */
const SCRIPT = `"use strict";
const channel = new BroadcastChannel("idpauth:" + location.pathname.replace(/popup[/]?$/, ""));
const query = new URLSearchParams(location.search);
const attempt = query.get("attempt");
const outcome = query.get("outcome");
const failure = (outcome === "failed" ? query.get("code") : outcome) ?? undefined;
channel.onmessage = ({ data }) => {
  if (data?.type === "received" && data.attempt === attempt) window.close();
};
channel.postMessage({ type: failure ? "failed" : "signed-in", attempt, failure });
`;

/** GET {mountPath}popup.js: the script of that page. */
export function popupScript(): Promise<Reply> {
  return Promise.resolve(script(SCRIPT));
}
