import { createHash } from "node:crypto";
import { HookFailedError, ProviderRefusedError, type ErrorCode } from "../errors.js";
import { identityOf } from "../events/events.js";
import { logLine } from "../events/log-lines.js";
import { queryOf, redirect, single, type Reply } from "../http/request-and-replies.js";
import { dataOfSameUser, findLogin, isUsedState, mayFinish, signedIn, withoutLogin } from "../record/pending-logins.js";
import type { ProviderFacts, SignIn } from "../ports/provider.js";
import type { PendingLogin, SessionRecord } from "../record/record.js";
import { hasSubject, isSameUser } from "../record/identity.js";
import { judge } from "../record/session-policy.js";
import { signInErrorCode } from "../pages/sign-in-errors.js";
import type { Release } from "../access/slots.js";
import { epochSeconds } from "../clock.js";
import type { EndpointContext } from "./context.js";
import type { SessionRequest } from "./session-request.js";
import { needsUser } from "./silent-login.js";
import { failureReply, outageReply } from "./failure-reply.js";
import { meetsStepUp } from "./guard-rule.js";

export type CallbackEndpoint = (visit: SessionRequest, context: EndpointContext) => Promise<Reply>;

/**
 * GET {mountPath}login-callback: completes the sign-in after the provider's redirect. A double click sends the same URL twice at once;
 * both requests get the same response.
 */
export function createCallback(): CallbackEndpoint {
  const running = new Map<string, Promise<Reply>>();
  return async (visit, context) => {
    const { request, session } = visit;
    const { pages } = context;
    try {
      const query = new URLSearchParams(queryOf(request.target));
      const { value: state, repeated } = single(query, "state");
      await session.read().catch((error: unknown) => {
        context.events.failed("callback", error);
        throw error;
      });
      if (state === undefined || state === "" || repeated || session.key === undefined) return linkInvalid(visit, context);
      // The whole URL: an attacker who planted the cookie of a login of their own (session fixation) knows the state, but not the code.
      const id = `${session.key} ${queryOf(request.target)}`;
      let reply = running.get(id);
      if (reply === undefined) {
        reply = finishLogin(visit, context, query, state).finally(() => running.delete(id));
        running.set(id, reply);
      }
      return await reply;
    } catch (error) {
      return outageReply(error, request, pages, { label: "action.signInAgain", href: `${pages.publicPath}login/` });
    }
  };
}

async function finishLogin(visit: SessionRequest, context: EndpointContext, query: URLSearchParams, state: string): Promise<Reply> {
  const { request, session } = visit;
  const { settings, provider, clock, events, orphanedTokens, tasks, exchangeSlots } = context;
  const now = epochSeconds(clock);
  const stateHash = createHash("sha256").update(state).digest("base64url");

  const record = await session.read();
  const login = record && findLogin(record, state, now);
  if (login === undefined) {
    // A signed-in user reloaded the page or went back. The login is done.
    if (record?.credentials !== undefined && isUsedState(record, stateHash)) {
      return redirect(record.final_redirect ?? settings.publicPath);
    }
    return linkInvalid(visit, context);
  }

  const about = { issuer: login.issuer };
  const started = clock.monotonic();
  const key = session.key ?? "";
  // Another tab's callback has signed the user in meanwhile, with a new session.
  const isSignedInElsewhere = () => orphanedTokens.isReplacedHere(key);
  let signIn: SignIn;
  let recordLeft: SessionRecord;
  let release: Release | undefined;
  try {
    // Before the state is used: if the provider is unavailable or no slot is free, the same URL can still succeed later.
    provider.assertReadyToExchange();
    const response = readAuthorizationResponse(query, login, await provider.facts());
    if (response.kind === "code") release = await exchangeSlots.take();

    const silentlyRefused = response.kind === "error" && login.silent === true && needsUser(response.code);
    const left = await session.update((fresh) => withoutLogin(fresh, state, stateHash, silentlyRefused ? now : undefined));
    // Another request has used the state, or the session is gone: a code must not be exchanged twice.
    if (!left.changed) return isSignedInElsewhere() ? redirect(login.final_redirect) : linkInvalid(visit, context);

    recordLeft = left.record;

    if (response.kind === "invalid") {
      events.refused("callback", response.reason, about);
      return response.reason === "iss" ? refused(visit, context) : linkInvalidPage(visit, context);
    }
    if (response.kind === "error" && silentlyRefused) {
      const line = { ...logLine("silent_login_failed"), details: { reason: response.code } };
      events.emit("failure", { ...about, during: "callback", kind: "refusal", reason: response.code }, line);
      return redirect(login.final_redirect);
    }
    if (response.kind === "error") {
      events.refused("callback", response.code, about);
      return redirect(`${settings.publicPath}?error=${response.code}`);
    }
    signIn = await provider.exchange({
      code: response.code,
      redirectUri: login.redirect_uri,
      nonce: login.nonce,
      verifier: login.verifier,
      dropped: (tokens, idInfo) => tasks.add(orphanedTokens.revoke(key, tokens, idInfo, now)),
    });
  } catch (error) {
    events.failed("callback", error, about);
    if (error instanceof ProviderRefusedError) return refused(visit, context);
    throw error;
  } finally {
    release?.();
  }

  /** @param of the key that the sign-in began with; empty once the new session has replaced it */
  const revokeOrphaned = (of = key) => {
    const { token: accessToken, refresh_token: refreshToken } = signIn.credentials;
    tasks.add(orphanedTokens.revoke(of, { accessToken, refreshToken }, signIn.idInfo, now));
  };
  if (!mayFinish(recordLeft, login, signIn.idInfo)) {
    revokeOrphaned();
    events.refused("callback", "another_user", about);
    return refused(visit, context);
  }

  const stepUp = login.step_up;
  if (stepUp !== undefined) {
    const isSignedIn = judge(recordLeft, settings, now).kind !== "ended";
    const isSame = isSameUser(recordLeft.id_info, signIn.idInfo);
    if ((isSignedIn && !isSame) || !meetsStepUp(signIn.idInfo, stepUp, epochSeconds(clock), settings.clockTolerance)) {
      // The signed-in user's tokens are only dropped: some providers end the whole grant with one token, and the present session uses it.
      if (!isSignedIn || !isSame) revokeOrphaned();
      return denied(visit, context, "step_up_failed", about);
    }
  }

  const { application } = context;
  const user = { idInfo: signIn.idInfo, userinfo: signIn.userinfo, credentials: signIn.credentials };
  const decision = await application.signIn(user, dataOfSameUser(recordLeft, signIn.idInfo), request).catch((error: unknown) => {
    revokeOrphaned();
    events.failed("callback", error, about);
    throw error;
  });
  if (decision.kind !== "accepted") {
    revokeOrphaned();
    return denied(visit, context, decision.kind === "denied" ? "sign_in_denied" : "claims_rejected", about, decision.message);
  }

  const stampActivity = settings.sessionIdleTimeout !== null;
  const signedInAt = epochSeconds(clock);
  const stored = await session
    .regenerate(
      (fresh) => signedIn(fresh, signIn, login, signedInAt, stampActivity, decision.review),
      // At once: another tab's callback may find the old key gone before this one is done.
      () => orphanedTokens.sessionReplaced(key),
    )
    .catch((error: unknown) => {
      // The application's change of its data failed, so nothing was stored. After another failure the outcome is unknown.
      if (error instanceof HookFailedError) revokeOrphaned();
      events.failed("callback", error, about);
      throw error;
    });
  if (stored === undefined) {
    if (isSignedInElsewhere()) return redirect(login.final_redirect);
    // A logout happened meanwhile, and wins.
    revokeOrphaned();
    events.refused("callback", "logged_out_meanwhile", about);
    return linkInvalidPage(visit, context);
  }
  // Checked after the session is stored: either the logout finds the session, or this check finds the logout.
  const isLoggedOut =
    settings.backchannelLogout &&
    (await endIfLoggedOut(visit, context, signIn).catch((error: unknown) => {
      revokeOrphaned("");
      events.failed("callback", error, about);
      throw error;
    }));
  if (isLoggedOut) {
    revokeOrphaned("");
    events.refused("callback", "logged_out_at_provider", about);
    return { ...linkInvalidPage(visit, context), setCookies: session.setCookies };
  }
  if (hasSubject(recordLeft.id_info) && !isSameUser(recordLeft.id_info, stored.id_info)) {
    tasks.add(application.signedOut("replaced", recordLeft));
  }
  events.emit("login", { ...identityOf(stored.id_info), duration: clock.monotonic() - started });
  return { ...redirect(login.final_redirect), setCookies: session.setCookies };
}

/** Returns whether a logout by the provider came before this sign-in's session was stored. If so, or in an outage, it ends the session. */
async function endIfLoggedOut({ session }: SessionRequest, { providerLogouts }: EndpointContext, signIn: SignIn): Promise<boolean> {
  try {
    if ((await providerLogouts?.hasEnded(signIn.idInfo)) !== true) return false;
  } catch (error) {
    await session.destroy().catch(() => undefined);
    throw error;
  }
  await session.destroy();
  return true;
}

type AuthorizationResponse =
  | { readonly kind: "code"; readonly code: string }
  | { readonly kind: "error"; readonly code: string }
  | { readonly kind: "invalid"; readonly reason: "iss" | "parameters" };

/** A code that a provider can issue (RFC 6749 appendix A.11), of a length that fits a URL. No other code is sent to the provider. */
const CODE = /^[\x20-\x7e]{1,8192}$/;

/** Reads the authorization response (RFC 6749 section 4.1.2) of a login whose state is known. */
function readAuthorizationResponse(query: URLSearchParams, login: PendingLogin, facts: ProviderFacts): AuthorizationResponse {
  const iss = single(query, "iss");
  const error = single(query, "error");
  const code = single(query, "code");
  // RFC 9207 section 2.4: compared if present, on errors too; required if the provider announces it.
  const fits = (value: string) => facts.isResponseIssuer?.(value) ?? value === facts.issuer;
  const isIssRight = iss.value === undefined ? !facts.sendsIss : fits(iss.value) && !iss.repeated;
  if (!isIssRight || login.issuer !== facts.issuer) return { kind: "invalid", reason: "iss" };
  if (error.repeated || code.repeated) return { kind: "invalid", reason: "parameters" };
  if (error.value !== undefined && error.value !== "") return { kind: "error", code: signInErrorCode(error.value) };
  if (code.value !== undefined && CODE.test(code.value)) return { kind: "code", code: code.value };
  return { kind: "invalid", reason: "parameters" };
}

/** The reply if the state belongs to no pending login of this browser. */
function linkInvalid(visit: SessionRequest, context: EndpointContext): Reply {
  context.events.refused("callback", "state");
  return linkInvalidPage(visit, context);
}

function linkInvalidPage({ request }: SessionRequest, { pages }: EndpointContext): Reply {
  return failureReply({ code: "login_link_invalid" }, request, pages, "html");
}

/** The reply 403: the present session stays, and there is no new one. */
function denied(
  { request }: SessionRequest,
  { events, pages }: EndpointContext,
  code: ErrorCode,
  about: { readonly issuer: string },
  detail?: string,
): Reply {
  events.refused("callback", code, about);
  return failureReply({ code, ...(detail !== undefined && { detail }) }, request, pages, "html");
}

function refused({ request }: SessionRequest, { pages }: EndpointContext): Reply {
  return failureReply({ code: "sign_in_refused" }, request, pages, "html");
}
