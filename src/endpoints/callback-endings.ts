/** How a callback ends that starts no session: its event, its reply, and what becomes of its tokens. */
import type { SessionRequest } from "../access/session-request.js";
import type { EpochSeconds } from "../clock.js";
import { ERRORS, ProviderUnavailableError, StoreUnavailableError } from "../errors.js";
import { reasonLine } from "../events/log-lines.js";
import { loginPath, loginUrlBackTo, isPassable } from "../guard/login-url.js";
import { wantsPage } from "../http/accept.js";
import { problem, redirect, type Reply } from "../http/reply.js";
import type { Action } from "../pages/error-page.js";
import { failureReply, type Failure } from "../pages/failure-reply.js";
import type { DroppedTokens } from "../ports/provider.js";
import { stepUpParameters } from "../record/authentication-strength.js";
import { isText, userPayload, type IdInfo } from "../record/identity.js";
import type { PendingLogin } from "../record/record.js";
import { withoutUndefined } from "../record/without-undefined.js";
import { isSilentFailure, type AuthorizationResponse } from "./authorization-response.js";
import { CROSS_SITE } from "./choose-provider.js";
import type { EndpointContext, EndpointRegistration } from "./context.js";
import { failureAt, failureCodeOf } from "./login-destination.js";

const COOKIE_LOST =
  "The browser uses https, but the framework sees http, so a session middleware whose cookie is `secure` sets none. Turn on the " +
  'framework\'s trust of the proxy (Express: `app.set("trust proxy", 1)`, Fastify: `trustProxy`).';

/** A request for the callback. */
export interface Callback {
  readonly opened: SessionRequest;
  readonly context: EndpointContext;
  /** The provider of the callback's path. */
  readonly registration: EndpointRegistration;
}

/** A callback whose state belongs to a pending login of this browser. */
export interface Attempt extends Callback {
  readonly query: URLSearchParams;
  readonly login: PendingLogin;
  readonly stateHash: string;
  /** The session's key when the callback came. */
  readonly key: string;
  /** Whether the session had credentials when the callback came. */
  readonly hadCredentials: boolean;
  readonly startedAt: EpochSeconds;
  /** The clock's `monotonic()`. */
  readonly started: number;
  /**
   * The tokens that the provider has issued for this login. Without `idInfo`, they are not
   * verified.
   */
  issued?: DroppedTokens & { readonly idInfo?: IdInfo };
}

/**
 * What becomes of the issued tokens:
 *
 * - `none`: the code was not exchanged.
 * - `stored`: the new session has them.
 * - `dropped`: they stay valid, because another session may depend on them: some providers end the
 *   whole grant with one token.
 * - `revoked`.
 * - `overtaken`: a logout came first. They are revoked, unless the user has signed in again.
 */
export type Fate = "none" | "stored" | "dropped" | "revoked" | "overtaken";

/** The end of a callback. */
export interface Ending {
  readonly kind: "ended";
  readonly tokens: Fate;
  /** Emits the event and creates the reply, after the tokens are dealt with. */
  readonly reply: () => Reply | Promise<Reply>;
}

export function ending(tokens: Fate, reply: Ending["reply"]): Ending {
  return { kind: "ended", tokens, reply };
}

/** The ending for an authorization response that has no code. */
export function withoutCode(
  attempt: Attempt,
  response: Exclude<AuthorizationResponse, { kind: "code" }>,
): Ending {
  const { login, context } = attempt;
  const { events, settings } = context;
  if (response.kind === "invalid") {
    const code = response.reason === "parameters" ? "login_link_invalid" : "sign_in_refused";
    return refusal(attempt, {
      tokens: "none",
      reason: response.reason,
      reply: () => failurePage(attempt, { code }),
    });
  }
  const { code } = response;
  const failedAt = failureAt(login, code, settings.publicPath);
  const at = login.provider === undefined ? "" : `&provider=${login.provider}`;
  if (!isSilentFailure(login, response))
    return refusal(attempt, {
      tokens: "none",
      reason: code,
      // The landing page explains the error, and offers the same login again.
      reply: () => redirect(failedAt ?? `${settings.publicPath}?error=${code}${at}`),
    });
  return ending("none", () => {
    const line = reasonLine("silent_login_failed", code);
    events.emit(
      "failure",
      { ...about(login), during: "callback", kind: "refusal", reason: code },
      line,
    );
    return redirect(failedAt ?? login.final_redirect);
  });
}

/** The provider of a login, as events carry it. */
const about = ({ issuer, provider }: PendingLogin) => withoutUndefined({ provider, issuer });

interface Refusal extends Pick<Ending, "tokens" | "reply"> {
  /** Of the event and the log. */
  readonly reason: string;
}

/** The ending for a callback that idpauth itself refuses. */
export function refusal({ context, login }: Attempt, { tokens, reason, reply }: Refusal): Ending {
  return ending(tokens, () => {
    context.events.refused("callback", reason, about(login));
    return reply();
  });
}

/** The reply for a failure: at the login's destination if that is for it, else its own page. */
export async function failurePage(
  { opened, context, login }: Attempt,
  failure: Failure,
): Promise<Reply> {
  const failedAt = failureAt(login, failure.code, context.pages.publicPath);
  if (failedAt !== undefined) return redirect(failedAt);
  return failureReply(failure, opened.request, { pages: context.pages, otherwise: "html" });
}

/**
 * The ending for a step that threw. An outage must not end a session that stays here, so it drops
 * the tokens.
 */
export function failed({ context, login, hadCredentials }: Attempt, error: unknown): Ending {
  const isOutage =
    error instanceof ProviderUnavailableError || error instanceof StoreUnavailableError;
  return ending(hadCredentials && isOutage ? "dropped" : "revoked", () => {
    context.events.failed("callback", error, about(login));
    const code = failureCodeOf(error);
    const failedAt = code && failureAt(login, code, context.pages.publicPath);
    if (failedAt === undefined) throw error;
    return redirect(failedAt);
  });
}

/**
 * The reply if the state belongs to no pending login of this browser.
 *
 * @param login of this state, if it has expired or another request has finished it
 */
export async function linkInvalid(
  { opened: { request, origin }, context, registration: { key } }: Callback,
  login?: PendingLogin,
): Promise<Reply> {
  const { pages, events, subjectSessions } = context;
  const isHttps =
    origin?.startsWith("https:") === true || request.header("x-forwarded-proto") === "https";
  // Only the framework's own sessions depend on what the framework sees.
  const isCookieLost = subjectSessions === undefined && isHttps && request.scheme === "http";
  const line = reasonLine("callback_failed", "state");
  events.emit(
    "failure",
    {
      ...withoutUndefined({ provider: key }),
      during: "callback",
      kind: "refusal",
      reason: "state",
    },
    isCookieLost ? { ...line, message: `${line.message} ${COOKIE_LOST}` } : line,
  );
  const code = "login_link_invalid";
  const failedAt = login && failureAt(login, code, pages.publicPath);
  return failedAt === undefined
    ? failureReply({ code }, request, { pages, otherwise: "html" })
    : redirect(failedAt);
}

/** The address of another login at the same provider, back to the same page. */
function loginAgain(
  { final_redirect: page, redirect_uri: here, provider }: PendingLogin,
  publicPath: string,
  parameters: Readonly<Record<string, string>>,
): string {
  const absolute = page.startsWith("/") ? new URL(here).origin + page : page;
  const all = { ...withoutUndefined({ provider }), ...parameters };
  return loginUrlBackTo(loginPath(publicPath), absolute, all);
}

/**
 * A login back to the same page for which the provider asks for the account: with single sign-on,
 * it would send the same user again.
 */
export function anotherAccount(login: PendingLogin, publicPath: string): Action {
  const href = loginAgain(login, publicPath, { select_account: "true" });
  return { label: "signedIn.selectAccount", href };
}

/** What the page of a failed login offers. */
interface Retry {
  readonly action: Action;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Returns what starts the same login again, from what the first one has checked. It stays a login that another site may have started, if the first one was.
 */
export function retry({ login, context }: Attempt): Retry {
  const { api, step_up: stepUp = {}, cross_site: isCrossSite } = login;
  const href = loginAgain(login, context.settings.publicPath, {
    ...withoutUndefined({ api, [CROSS_SITE]: isCrossSite && "true" }),
    ...stepUpParameters(stepUp),
  });
  // Where browsers send no Sec-Fetch-Site, the login knows its own page by Referer.
  return {
    action: { label: "action.tryAgain", href },
    headers: { "Referrer-Policy": "strict-origin" },
  };
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
  const failedAt = failureAt(login, code, pages.publicPath);
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
      // The logout also removes the cookie that makes idpauth ask.
      stayHref: present === undefined ? `${pages.publicPath}logout/` : login.final_redirect,
      continueHref: loginAgain(login, pages.publicPath, passed),
    },
    request,
  );
}

/** The email address of a user, or another claim that the user recognizes. Never the `sub`. */
function nameOf(user: IdInfo): string {
  return [user.email, user.name, user["preferred_username"]].find(isText) ?? "";
}
