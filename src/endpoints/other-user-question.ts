/** The question whether a login that another site may have begun may go on. */
import { ERRORS } from "../errors.js";
import { isPassable, loginPath } from "../guard/login-url.js";
import { wantsPage } from "../http/accept.js";
import { problem, redirect, type Reply } from "../http/reply.js";
import { isText, userPayload, type IdInfo } from "../record/identity.js";
import type { PendingLogin } from "../record/record.js";
import { withoutUndefined } from "../record/without-undefined.js";
import type { Callback } from "./callback-endings.js";
import { failureAt, fieldsAgain } from "./login-destination.js";

/**
 * The reply to a login that another site may have started, if it would replace the session of
 * another user, or follows a logout that another site started. Nothing changes. On the page, the
 * user keeps the session or stays signed out, or starts a login as the other user by a form, which
 * is then a login of the application's own page.
 *
 * @param present the session's user; undefined if another site has signed the user out
 */
export async function askUser(
  { opened: { request }, context, login }: Callback & { readonly login: PendingLogin },
  present: IdInfo | undefined,
  other: IdInfo,
): Promise<Reply> {
  const { pages, events } = context;
  const code = present === undefined ? "sign_in_unconfirmed" : "other_user_signed_in";
  const message = `${ERRORS[code].title}.`;
  events.emit(
    "failure",
    {
      ...withoutUndefined({ provider: login.provider }),
      issuer: login.issuer,
      during: "callback",
      kind: "refusal",
      reason: code,
    },
    { level: "info", code, message },
  );
  // Without the header, every login may be another site's, and only the form of this page ends the
  // question.
  const isKnown = request.header("sec-fetch-site") !== undefined;
  const failedAt = isKnown ? failureAt(login, code, pages.publicPath) : undefined;
  if (failedAt !== undefined) return redirect(failedAt);
  if (!wantsPage(request, true)) return problem(code, message);
  // Some providers sign users in by `preferred_username`, and not by the email address.
  const hint = [other["preferred_username"], other.email].find(
    (claim) => isText(claim) && isPassable(claim),
  ) as string | undefined;
  const passed = withoutUndefined({ login_hint: hint });
  return pages.otherUser(
    {
      present: present && nameOf(present),
      user: present && userPayload(present),
      other: nameOf(other),
      // Never the requested page, which may begin a login or a logout itself. The logout also
      // removes the cookie that makes idpauth ask.
      stayHref:
        present === undefined
          ? `${pages.publicPath}logout/`
          : (context.settings.authFinalRedirectUrl ?? pages.publicPath),
      continueForm: {
        href: loginPath(pages.publicPath),
        fields: Object.fromEntries(fieldsAgain(login, passed)),
      },
    },
    request,
  );
}

/** The email address of a user, or another claim that the user recognizes. Never the `sub`. */
function nameOf(user: IdInfo): string {
  return [user.email, user.name, user["preferred_username"]].find(isText) ?? "";
}
