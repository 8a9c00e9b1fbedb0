/** How a callback ends that starts no session: its event, its reply, and what becomes of its tokens. */
import type { SessionRequest } from "../access/session-request.js";
import { epochSeconds, type EpochSeconds } from "../clock.js";
import { isOutage, ProviderUnavailableError, StoreUnavailableError } from "../errors.js";
import { reasonLine } from "../events/log-lines.js";
import { loginPath } from "../guard/login-url.js";
import { markIf } from "../http/cross-site-parameter.js";
import { redirect, type Reply } from "../http/reply.js";
import type { Action } from "../pages/error-page.js";
import { failureReply, type Failure } from "../pages/failure-reply.js";
import type { DroppedTokens } from "../ports/provider.js";
import type { UserSession } from "../ports/user-session.js";
import { stepUpParameters } from "../record/authentication-strength.js";
import { userPayload, type IdInfo, type UserPayload } from "../record/identity.js";
import type { LoginTarget, PendingLogin } from "../record/record.js";
import { judge } from "../record/session-policy.js";
import { withoutUndefined } from "../record/without-undefined.js";
import type { PostedName } from "./apple-posted-name.js";
import { isSilentFailure, type AuthorizationResponse } from "./authorization-response.js";
import { clockDifference } from "./clock-difference.js";
import type { EndpointContext, EndpointRegistration } from "./context.js";
import { failureAt, failureCodeOf, loginAgain } from "./login-destination.js";
import type { RunningExchanges } from "./running-exchanges.js";

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

/** The provider's response to a login. */
export interface ProviderAnswer {
  readonly query: URLSearchParams;
  readonly postedName: PostedName;
}

/** A callback whose state belongs to a pending login of this browser. */
export interface Attempt extends Callback, ProviderAnswer {
  readonly login: PendingLogin;
  readonly stateHash: string;
  /** The session's key when the callback came. */
  readonly key: string;
  /** Whether the session had credentials when the callback came. */
  readonly hadCredentials: boolean;
  readonly startedAt: EpochSeconds;
  /** The clock's `monotonic()`. */
  readonly started: number;
  readonly exchanges: RunningExchanges;
  /** Ends the exchange in this process. Undefined: the code is not exchanged. */
  endExchange?: () => void;
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

/**
 * The user who is still signed in after a login has failed. Undefined in an outage, too.
 *
 * @param login undefined: the browser has no such login. A stranger's callback must not cost a
 *   second look-up, and otherwise another tab may have signed in another user meanwhile.
 */
export async function presentUser(
  { opened: { session }, context: { settings, clock } }: Callback,
  login: PendingLogin | undefined,
): Promise<UserPayload | undefined> {
  try {
    const record = await (login === undefined ? session.read() : session.reload());
    const isSignedIn = judge(record, settings, epochSeconds(clock)).kind !== "ended";
    return isSignedIn ? userPayload(record?.id_info) : undefined;
  } catch (error) {
    if (!isOutage(error)) throw error;
    return undefined;
  }
}

/** The reply for a failure: at the login's destination if that is for it, else its own page. */
export async function failurePage(attempt: Attempt, failure: Failure): Promise<Reply> {
  const { opened, context, login } = attempt;
  const failedAt = failureAt(login, failure.code, context.pages.publicPath);
  if (failedAt !== undefined) return redirect(failedAt);
  const startAgain: Action = {
    label: "action.startAgain",
    href: loginAgain(login, context.pages.publicPath),
  };
  const user = await presentUser(attempt, login);
  return failureReply({ action: startAgain, ...failure, user }, opened.request, {
    pages: context.pages,
    otherwise: "html",
  });
}

/**
 * The ending for a step that threw. An outage must not end a session that stays here, so it drops
 * the tokens.
 */
export function failed({ context, login, hadCredentials }: Attempt, error: unknown): Ending {
  const isAway =
    error instanceof ProviderUnavailableError || error instanceof StoreUnavailableError;
  return ending(hadCredentials && isAway ? "dropped" : "revoked", () => {
    context.events.failed("callback", error, about(login));
    const code = failureCodeOf(error);
    const failedAt = code && failureAt(login, code, context.pages.publicPath);
    if (failedAt === undefined) throw error;
    return redirect(failedAt);
  });
}

/**
 * The reply if the state belongs to no pending login of this browser, or if there is none.
 *
 * @param login of this state, if it has expired or another request has finished it
 */
export async function linkInvalid(
  callback: Callback,
  login?: PendingLogin,
  reason: "state" | "response_missing" = "state",
): Promise<Reply> {
  const {
    opened: { request, origin, session },
    context,
    registration: { key },
  } = callback;
  const { pages, events, subjectSessions, clock } = context;
  const isHttps =
    origin?.startsWith("https:") === true || request.header("x-forwarded-proto") === "https";
  // Only the framework's own sessions depend on what the framework sees.
  const isCookieLost =
    reason === "state" && subjectSessions === undefined && isHttps && request.scheme === "http";
  const line = reasonLine("callback_failed", reason);
  const clocks = login === undefined ? [] : await clockWords(session, epochSeconds(clock));
  events.emit(
    "failure",
    {
      ...withoutUndefined({ provider: key }),
      during: "callback",
      kind: "refusal",
      reason,
    },
    {
      ...line,
      message: [line.message, ...(isCookieLost ? [COOKIE_LOST] : []), ...clocks].join(" "),
    },
  );
  const code = "login_link_invalid";
  const failedAt = login && failureAt(login, code, pages.publicPath);
  if (failedAt !== undefined) return redirect(failedAt);
  // Nothing tells who has begun that login.
  const parameters = withoutUndefined({ provider: key, ...markIf(true) });
  const action: Action = {
    label: "action.startAgain",
    href: loginPath(pages.publicPath, parameters),
  };
  const user = await presentUser(callback, login);
  return failureReply({ code, action, user }, request, { pages, otherwise: "html" });
}

/** What the log says if a stamp shows that this process's clock differs from another one. */
async function clockWords(session: UserSession, now: EpochSeconds): Promise<readonly string[]> {
  const record = await session.read(); // which has found the login
  const difference = clockDifference({ record, expiresAt: session.expiresAt }, now);
  if (difference === 0) return [];
  const where = difference > 0 ? "ahead of" : "behind";
  return [
    `This process's clock is at least ${String(Math.abs(difference))} seconds ${where} the clock of another process or of the store. Synchronize the clocks, for example with NTP.`,
  ];
}

/**
 * A login back to the same page for which the provider asks for the account: with single sign-on,
 * it would send the same user again.
 */
export function anotherAccount(login: PendingLogin, publicPath: string): Action {
  const href = loginAgain(login, publicPath, { select_account: "true" });
  return { label: "signedIn.selectAccount", href };
}

/** The address of the same login again. It keeps the mark of one that another site may have begun. */
export function sameLogin(
  login: LoginTarget & { readonly cross_site?: true },
  publicPath: string,
): string {
  const { api, step_up: stepUp = {} } = login;
  return loginAgain(login, publicPath, {
    ...withoutUndefined({ api }),
    ...stepUpParameters(stepUp),
  });
}

/** Starts the same login again, from what the first one has checked. */
export function retry({ login, context }: Attempt): Action {
  return { label: "action.tryAgain", href: sameLogin(login, context.settings.publicPath) };
}
