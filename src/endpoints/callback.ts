import { createHash } from "node:crypto";
import { ProviderRefusedError } from "../errors.js";
import { identityOf } from "../events/events.js";
import { queryOf, redirect, single, type Reply } from "../http/request-reply.js";
import { findLogin, isUsedState, mayFinish, signedIn, withoutLogin } from "../record/pending-logins.js";
import type { ProviderFacts, SignIn } from "../ports/provider.js";
import type { PendingLogin, SessionRecord } from "../record/record.js";
import { signInErrorCode } from "../pages/sign-in-errors.js";
import type { Release } from "../access/slots.js";
import { epochSeconds } from "../clock.js";
import type { EndpointContext } from "./context.js";
import type { Visit } from "./visit.js";
import { failureReply, outageReply } from "./failure.js";

export type CallbackEndpoint = (visit: Visit, context: EndpointContext) => Promise<Reply>;

/**
 * GET {mountPath}login-callback: the way back from the provider. A double click sends the same address twice at once;
 * both requests carry the same session, state and code, and get the same answer.
 */
export function createCallback(): CallbackEndpoint {
  const underWay = new Map<string, Promise<Reply>>();
  return async (visit, context) => {
    const { request, session } = visit;
    const { publicPath } = context.settings;
    try {
      const query = new URLSearchParams(queryOf(request.target));
      const { value: state, repeated } = single(query, "state");
      await session.read().catch((error: unknown) => {
        context.events.failed("callback", error);
        throw error;
      });
      if (state === undefined || state === "" || repeated || session.key === undefined) return linkInvalid(visit, context);
      // The whole address: whoever began this login and planted its cookie (session fixation) knows the state, but not the code.
      const id = `${session.key} ${queryOf(request.target)}`;
      let answer = underWay.get(id);
      if (answer === undefined) {
        answer = finishLogin(visit, context, query, state).finally(() => underWay.delete(id));
        underWay.set(id, answer);
      }
      return await answer;
    } catch (error) {
      return outageReply(error, request, publicPath, { label: "Sign in again", href: `${publicPath}login/` });
    }
  };
}

async function finishLogin(visit: Visit, context: EndpointContext, query: URLSearchParams, state: string): Promise<Reply> {
  const { session } = visit;
  const { settings, provider, clock, events, orphanedTokens, tasks, exchangeSlots } = context;
  const now = epochSeconds(clock);
  const stateHash = createHash("sha256").update(state).digest("base64url");

  const record = await session.read();
  const login = record && findLogin(record, state, now);
  if (login === undefined) {
    // A reload or the back button, by somebody who is signed in already: no harm, and nothing to do again.
    if (record?.credentials !== undefined && isUsedState(record, stateHash)) {
      return redirect(record.final_redirect ?? settings.publicPath);
    }
    return linkInvalid(visit, context);
  }

  const about = { issuer: login.issuer };
  const started = clock.monotonic();
  const key = session.key ?? "";
  // Another tab's callback has given the visitor a new session meanwhile: nothing is left to do here but to go on.
  const isSignedInElsewhere = () => orphanedTokens.isReplacedHere(key);
  let signIn: SignIn;
  let recordLeft: SessionRecord;
  let release: Release | undefined;
  try {
    // Before the state is used up: a login that finds the provider away, or no slot, can still succeed later.
    provider.assertReadyToExchange();
    const answer = readAuthorizationResponse(query, login, await provider.facts());
    if (answer.kind === "code") release = await exchangeSlots.take();

    const left = await session.update((fresh) => withoutLogin(fresh, state, stateHash));
    // Another request has used the state, or the session is gone: a code must not be exchanged twice.
    if (!left.changed) return isSignedInElsewhere() ? redirect(login.final_redirect) : linkInvalid(visit, context);

    recordLeft = left.record;

    if (answer.kind === "invalid") {
      events.refused("callback", answer.reason, about);
      return answer.reason === "iss" ? refused(visit, context) : linkInvalidPage(visit, context);
    }
    if (answer.kind === "error") {
      events.refused("callback", answer.code, about);
      return redirect(`${settings.publicPath}?error=${answer.code}`);
    }
    signIn = await provider.exchange({
      code: answer.code,
      redirectUri: login.redirect_uri,
      nonce: login.nonce,
      verifier: login.verifier,
    });
  } catch (error) {
    events.failed("callback", error, about);
    if (error instanceof ProviderRefusedError) return refused(visit, context);
    throw error;
  } finally {
    release?.();
  }

  const revokeOrphaned = () => {
    const { token: accessToken, refresh_token: refreshToken } = signIn.credentials;
    tasks.add(orphanedTokens.revoke(key, { accessToken, refreshToken }, signIn.idInfo, now));
  };
  if (!mayFinish(recordLeft, login, signIn.idInfo)) {
    revokeOrphaned();
    events.refused("callback", "another_user", about);
    return refused(visit, context);
  }

  const stampActivity = settings.sessionIdleTimeout !== null;
  const signedInAt = epochSeconds(clock);
  const stored = await session
    .regenerate(
      (fresh) => signedIn(fresh, signIn, login, signedInAt, stampActivity),
      // At once: another tab's callback may find the old key gone before this one is done.
      () => orphanedTokens.sessionReplaced(key),
    )
    .catch((error: unknown) => {
      events.failed("callback", error, about);
      throw error;
    });
  if (stored === undefined) {
    if (isSignedInElsewhere()) return redirect(login.final_redirect);
    // A logout came between, and wins.
    revokeOrphaned();
    events.refused("callback", "logged_out_meanwhile", about);
    return linkInvalidPage(visit, context);
  }
  events.emit("login", { ...identityOf(stored.id_info), duration: clock.monotonic() - started });
  return { ...redirect(login.final_redirect), setCookies: session.setCookies };
}

type AuthorizationResponse =
  | { readonly kind: "code"; readonly code: string }
  | { readonly kind: "error"; readonly code: string }
  | { readonly kind: "invalid"; readonly reason: "iss" | "parameters" };

/** What a provider can have given (RFC 6749 appendix A.11), of a length that fits a URL. Anything else is not passed on to it. */
const CODE = /^[\x20-\x7e]{1,8192}$/;

/** Reads the authorization response (RFC 6749 section 4.1.2) of a login whose state is known. */
function readAuthorizationResponse(query: URLSearchParams, login: PendingLogin, facts: ProviderFacts): AuthorizationResponse {
  const iss = single(query, "iss");
  const error = single(query, "error");
  const code = single(query, "code");
  // RFC 9207 section 2.4: compared whenever it is there, on errors too; demanded when the provider announces it.
  const isIssRight = iss.value === undefined ? !facts.sendsIss : iss.value === facts.issuer && !iss.repeated;
  if (!isIssRight || login.issuer !== facts.issuer) return { kind: "invalid", reason: "iss" };
  if (error.repeated || code.repeated) return { kind: "invalid", reason: "parameters" };
  if (error.value !== undefined && error.value !== "") return { kind: "error", code: signInErrorCode(error.value) };
  if (code.value !== undefined && CODE.test(code.value)) return { kind: "code", code: code.value };
  return { kind: "invalid", reason: "parameters" };
}

/** The state belongs to no login of this browser's that is under way. */
function linkInvalid(visit: Visit, context: EndpointContext): Reply {
  context.events.refused("callback", "state");
  return linkInvalidPage(visit, context);
}

function linkInvalidPage({ request }: Visit, { settings: { publicPath } }: EndpointContext): Reply {
  return failureReply({ code: "login_link_invalid" }, request, publicPath, "html");
}

function refused({ request }: Visit, { settings: { publicPath } }: EndpointContext): Reply {
  return failureReply({ code: "sign_in_refused" }, request, publicPath, "html");
}
