/** The replies of callbacks that start no session. */
import { ERRORS } from "../errors.js";
import { wantsPage } from "../http/accept.js";
import { problem, type Reply } from "../http/reply.js";
import { isText, type IdInfo } from "../record/identity.js";
import type { PendingLogin } from "../record/record.js";
import type { EndpointContext, EndpointRegistration } from "./context.js";
import { loginUrlBackTo, providerIn } from "../guard/blocked.js";
import { isPassable } from "../guard/login-url.js";
import type { SessionRequest } from "../access/session-access.js";
import type { Action } from "../pages/error-page.js";
import { failureReply } from "../pages/failure-reply.js";

/** The reply if the state belongs to no pending login of this browser. */
export function linkInvalid(
  { request }: SessionRequest,
  { pages, events }: EndpointContext,
  { key }: EndpointRegistration,
): Promise<Reply> {
  events.refused("callback", "state", providerIn(key));
  return failureReply({ code: "login_link_invalid" }, request, pages, "html");
}

/**
 * A login back to the same page for which the provider asks for the account: with single sign-on,
 * it would send the same user again.
 */
export function anotherAccount(
  { final_redirect: page, redirect_uri: here, provider }: PendingLogin,
  publicPath: string,
): Action {
  const absolute = page.startsWith("/") ? new URL(here).origin + page : page;
  const href = loginUrlBackTo(`${publicPath}login/`, absolute, {
    ...providerIn(provider),
    select_account: "true",
  });
  return { label: "signedIn.selectAccount", href };
}

/**
 * The reply to a login that another site may have started, if it would replace the session of
 * another user, or follows a logout that another site started. Nothing changes. On the page, the
 * user keeps the session or stays signed out, or starts a login as the other user, which is then a
 * login of the application's own page.
 *
 * @param present the session's user; undefined if another site has signed the user out
 */
export async function askUser(
  { request }: SessionRequest,
  { pages, events }: EndpointContext,
  login: PendingLogin,
  present: string | undefined,
  other: IdInfo,
): Promise<Reply> {
  const code = present === undefined ? "sign_in_unconfirmed" : "other_user_signed_in";
  const message = `${ERRORS[code].title}.`;
  events.emit(
    "failure",
    {
      ...providerIn(login.provider),
      issuer: login.issuer,
      during: "callback",
      kind: "refusal",
      reason: code,
    },
    { level: "info", code, message },
  );
  if (!wantsPage(request, true)) return problem(code, message);
  // Several providers sign in by `preferred_username`, and not by the email address.
  const hint = [other["preferred_username"], other.email].find(
    (claim) => isText(claim) && isPassable(claim),
  ) as string | undefined;
  const page = new URL(login.final_redirect, login.redirect_uri).href;
  const continueHref = loginUrlBackTo(`${pages.publicPath}login/`, page, {
    ...providerIn(login.provider),
    ...(hint !== undefined && { login_hint: hint }),
  });
  return pages.otherUser(
    {
      present,
      other: nameOf(other),
      // The logout also removes the cookie that makes idpauth ask.
      stayHref: present === undefined ? `${pages.publicPath}logout/` : login.final_redirect,
      continueHref,
    },
    request,
  );
}

/** The email address of a user, or another claim that the user recognizes. */
export function nameOf(user: IdInfo | undefined): string {
  return [user?.email, user?.name, user?.sub].find(isText) ?? "";
}
