import { createHash } from "node:crypto";
import { notifyOfEnd } from "../access/notify-application.js";
import { epochSeconds, type EpochSeconds } from "../clock.js";
import { ProviderUnavailableError, StoreUnavailableError } from "../errors.js";
import { identityOf } from "../events/event-hub.js";
import { reasonLine } from "../events/log-lines.js";
import { redirect, type Reply } from "../http/reply.js";
import { single } from "../http/request.js";
import { failureReply, type Failure } from "../pages/failure-reply.js";
import type { ProviderFacts, DroppedTokens } from "../ports/provider.js";
import { dataOfSameUser, type Review } from "../record/application-data.js";
import { meetsStepUp } from "../record/authentication-strength.js";
import type { SignIn } from "../record/credentials.js";
import { hasSubject, isSameUser, userPayload, type IdInfo } from "../record/identity.js";
import {
  findLogin,
  isAlive,
  isUsedState,
  mayFinish,
  signedIn,
  withoutLogin,
} from "../record/pending-logins.js";
import type { PendingLogin, SessionRecord } from "../record/record.js";
import { judge } from "../record/session-policy.js";
import { signInErrorCode, type SignInErrorCode } from "../record/sign-in-errors.js";
import { needsUser } from "../record/silent-login.js";
import { withoutUndefined } from "../record/without-undefined.js";
import { anotherAccount, askUser, linkInvalid, type Callback } from "./callback-replies.js";
import type { EndpointContext } from "./context.js";
import { failureAt, failureCodeOf } from "./login-destination.js";
import { wasSignedOutByOtherSite, withDecision } from "./other-site-logout.js";

/** A callback whose state belongs to a pending login of this browser. */
interface Attempt extends Callback {
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
type Fate = "none" | "stored" | "dropped" | "revoked" | "overtaken";

/** The end of a callback. */
class Ending {
  readonly tokens: Fate;
  /** Emits the event and creates the reply, after the tokens are dealt with. */
  readonly reply: () => Reply | Promise<Reply>;

  constructor(tokens: Fate, reply: () => Reply | Promise<Reply>) {
    this.tokens = tokens;
    this.reply = reply;
  }
}

/** The result of the exchange. */
interface Received {
  /** The record that the login was removed from. */
  readonly left: SessionRecord;
  readonly signIn: SignIn;
}

export async function finishLogin(
  callback: Callback,
  query: URLSearchParams,
  state: string,
): Promise<Reply> {
  const { session } = callback.opened;
  const { settings, clock } = callback.context;
  const startedAt = epochSeconds(clock);
  const stateHash = createHash("sha256").update(state).digest("base64url");
  const record = await session.read();
  const hadCredentials = record?.credentials !== undefined;
  const login = record && findLogin(record, state);
  if (login === undefined || !isAlive(login, startedAt)) {
    // A signed-in user reloaded the page or went back. The login is done.
    if (hadCredentials && isUsedState(record, stateHash))
      return redirect(record.final_redirect ?? settings.publicPath);
    return linkInvalid(callback, login);
  }
  const attempt: Attempt = {
    ...callback,
    query,
    login,
    stateHash,
    key: session.key ?? "",
    hadCredentials,
    startedAt,
    started: clock.monotonic(),
  };
  const ending = await takeSteps(attempt).catch((error: unknown) => failed(attempt, error));
  settleTokens(attempt, ending.tokens);
  return ending.reply();
}

/**
 * The order is the guarantee:
 *
 * 1. The state is claimed before the exchange, so that no code is exchanged twice.
 * 2. The user and the step-up are checked before the application's code runs, so that it decides
 *    only about a user who may sign in here.
 * 3. The session is stored under a new key, and only if the old session still exists: a logout
 *    wins.
 * 4. The provider's logouts are checked after the session is stored: either the logout finds the
 *    session, or this check finds the logout.
 */
async function takeSteps(attempt: Attempt): Promise<Ending> {
  const received = await claimAndExchange(attempt);
  if (received instanceof Ending) return received;
  const refused = checkUser(attempt, received);
  if (refused !== undefined) return refused;
  const review = await decide(attempt, received);
  if (review instanceof Ending) return review;
  const signedInAt = epochSeconds(attempt.context.clock);
  const stored = await store(attempt, received, review, signedInAt);
  if (stored instanceof Ending) return stored;
  return (await overtaken(attempt, received.signIn)) ?? welcome(attempt, stored);
}

/** The only place that revokes tokens of a sign-in. */
function settleTokens(
  { context: { tasks, orphanedTokens }, registration: { provider }, issued, startedAt }: Attempt,
  fate: Fate,
): void {
  if (issued === undefined) return;
  if (fate === "revoked") tasks.add(orphanedTokens.discard(provider, issued));
  // Without the session's key: whether another tab's sign-in has replaced it is checked before, and
  // here this one may have done so.
  if (fate === "overtaken")
    tasks.add(
      orphanedTokens.revoke(provider, {
        key: "",
        tokens: issued,
        idInfo: issued.idInfo,
        since: startedAt,
      }),
    );
}

async function claimAndExchange(attempt: Attempt): Promise<Received | Ending> {
  const { query, login, registration } = attempt;
  const { provider } = registration;
  // Before the state is used: if the provider is unavailable or no slot is free, the same URL can
  // still succeed later.
  provider.assertReadyToExchange();
  // Another provider's response is not compared with this one's metadata, and its code is sent to
  // neither (RFC 9700 section 4.4).
  const response: AuthorizationResponse =
    login.provider === registration.key
      ? readAuthorizationResponse(query, login, await provider.facts())
      : { kind: "invalid", reason: "provider" };
  const release = response.kind === "code" ? await registration.takeExchangeSlot() : undefined;
  try {
    const left = await claimState(attempt, response);
    if (left instanceof Ending) return left;
    if (response.kind !== "code") return withoutCode(attempt, response);
    return { left, signIn: await exchange(attempt, response.code) };
  } finally {
    release?.();
  }
}

/** Removes the login from the session. Returns the record that is left. */
async function claimState(
  attempt: Attempt,
  response: AuthorizationResponse,
): Promise<SessionRecord | Ending> {
  const { opened, login, stateHash, startedAt } = attempt;
  const silentFailedAt = isSilentFailure(login, response) ? startedAt : undefined;
  const claimed = await opened.session.update((fresh) =>
    withoutLogin(fresh, { state: login.state, stateHash, silentFailedAt }),
  );
  if (claimed.changed) return claimed.record;
  // Another request has used the state, or the session is gone.
  return signedInElsewhere(attempt) ?? new Ending("none", () => linkInvalid(attempt, login));
}

async function exchange(attempt: Attempt, code: string): Promise<SignIn> {
  const { login, registration } = attempt;
  const signIn = await registration.provider.exchange({
    code,
    redirectUri: login.redirect_uri,
    nonce: login.nonce,
    verifier: login.verifier,
    dropped: (tokens) => (attempt.issued = tokens),
  });
  const { credentials, idInfo } = signIn;
  attempt.issued = {
    accessToken: credentials.token,
    refreshToken: credentials.refresh_token,
    idInfo,
  };
  return signIn;
}

/** Whether this user may sign in by this login, before the application decides. */
function checkUser(attempt: Attempt, { left, signIn }: Received): Ending | undefined {
  const { opened, context, login, startedAt } = attempt;
  const { settings, clock } = context;
  const isSignedIn = judge(left, settings, startedAt).kind !== "ended";
  const isSame = isSameUser(left.id_info, signIn.idInfo);
  const mustAsk = isSignedIn ? !isSame : wasSignedOutByOtherSite(opened, settings);
  if (login.cross_site === true && mustAsk) {
    const present = isSignedIn ? (left.id_info ?? {}) : undefined;
    // Dropped: a revocation can end the other user's sessions in other browsers, too.
    return new Ending("dropped", () => askUser(attempt, present, signIn.idInfo));
  }
  if (!mayFinish(left, login, signIn.idInfo)) {
    return refusal(attempt, "revoked", "another_user", () =>
      page(attempt, { code: "sign_in_refused" }),
    );
  }
  if (login.step_up === undefined) return undefined;
  const isMet = meetsStepUp(signIn.idInfo, login.step_up, {
    now: epochSeconds(clock),
    tolerance: settings.clockTolerance,
  });
  if (isMet && (isSame || !isSignedIn)) return undefined;
  // Dropped for the signed-in user, because the existing session uses the same grant.
  const fate = isSignedIn && isSame ? "dropped" : "revoked";
  const user = isSignedIn ? userPayload(left.id_info) : undefined;
  return refusal(attempt, fate, "step_up_failed", () =>
    page(attempt, { code: "step_up_failed", user }),
  );
}

/** Runs the claims schema and `onSignIn`. */
async function decide(attempt: Attempt, { left, signIn }: Received): Promise<Review | Ending> {
  const { opened, context, login } = attempt;
  const { idInfo, userinfo, credentials } = signIn;
  const data = dataOfSameUser(left, idInfo);
  const decision = await context.application.signIn(
    { idInfo, userinfo, credentials },
    data,
    opened.request,
  );
  if (decision.kind === "accepted") return decision.review;
  const code = decision.kind === "denied" ? "sign_in_denied" : "claims_rejected";
  const failure: Failure = {
    code,
    detail: decision.message,
    action: anotherAccount(login, context.settings.publicPath),
  };
  return refusal(attempt, "revoked", code, () => page(attempt, failure));
}

async function store(
  attempt: Attempt,
  { left, signIn }: Received,
  review: Review,
  now: EpochSeconds,
): Promise<SessionRecord | Ending> {
  const { opened, context, login, key } = attempt;
  const { settings, application, orphanedTokens, tasks } = context;
  const stampsActivity = settings.sessionIdleTimeout !== null;
  let replaced = left;
  const stored = await opened.session.regenerate(
    (fresh) => signedIn((replaced = fresh), { signIn, login, now, stampsActivity, review }),
    // At once: another tab's callback may find the old key gone before this one is done.
    () => orphanedTokens.sessionReplaced(key),
  );
  if (stored === undefined) {
    // Another tab's sign-in came first, or a logout.
    const elsewhere = signedInElsewhere(attempt);
    return (
      elsewhere ??
      refusal(attempt, "overtaken", "logged_out_meanwhile", () =>
        page(attempt, { code: "login_link_invalid" }),
      )
    );
  }
  const verdict = judge(replaced, settings, now);
  if (!isSameUser(replaced.id_info, stored.id_info))
    tasks.add(application.signedOut("replaced", replaced));
  else if (verdict.kind === "ended") tasks.add(application.signedOut(verdict.reason, replaced));
  return stored;
}

/**
 * Ends the session if a logout by the provider came before the session was stored. Also ends it if
 * an outage prevents the check.
 */
async function overtaken(attempt: Attempt, { idInfo }: SignIn): Promise<Ending | undefined> {
  const { opened, context, registration } = attempt;
  const { application, tasks } = context;
  const { settings, logouts } = registration;
  const end = async () => {
    // The provider's request may have ended the session first.
    const record = await opened.session.destroy();
    if (record !== undefined) tasks.add(application.signedOut("logged_out_at_provider", record));
  };
  if (!settings.backchannelLogout) return undefined;
  try {
    if ((await logouts?.hasEnded(idInfo)) !== true) return undefined;
  } catch (error) {
    await end().catch(() => undefined);
    throw error;
  }
  await end();
  return refusal(attempt, "overtaken", "logged_out_at_provider", async () => {
    const reply = await page(attempt, { code: "login_link_invalid" });
    return { ...reply, setCookies: opened.session.setCookies };
  });
}

function welcome(
  { opened, context, registration, login, started }: Attempt,
  stored: SessionRecord,
): Ending {
  const { clock, events, settings } = context;
  return new Ending("stored", async () => {
    await endSurplusSessions(stored.id_info, opened.session.key, context);
    events.emit("login", {
      ...identityOf(stored.id_info, registration.key),
      duration: clock.monotonic() - started,
    });
    return { ...redirect(login.final_redirect), setCookies: withDecision(opened, settings) };
  });
}

/**
 * The ending if another tab's callback in this process has signed the user in meanwhile, with a new
 * session.
 */
function signedInElsewhere({
  context: { orphanedTokens },
  login,
  key,
}: Attempt): Ending | undefined {
  return orphanedTokens.isReplacedHere(key)
    ? new Ending("dropped", () => redirect(login.final_redirect))
    : undefined;
}

/**
 * Whether a silent login failed because the provider needs the user: the application then goes on
 * without a sign-in.
 */
function isSilentFailure(login: PendingLogin, response: AuthorizationResponse): boolean {
  return login.silent === true && response.kind === "error" && needsUser(response.code);
}

/** The ending for an authorization response that has no code. */
function withoutCode(
  attempt: Attempt,
  response: Exclude<AuthorizationResponse, { kind: "code" }>,
): Ending {
  const { login, context } = attempt;
  const { events, settings } = context;
  if (response.kind === "invalid") {
    const code = response.reason === "parameters" ? "login_link_invalid" : "sign_in_refused";
    return refusal(attempt, "none", response.reason, () => page(attempt, { code }));
  }
  const { code } = response;
  if (!isSilentFailure(login, response))
    return refusal(attempt, "none", code, () =>
      redirect(
        failureAt(login, code, settings.publicPath) ?? `${settings.publicPath}?error=${code}`,
      ),
    );
  return new Ending("none", () => {
    const line = reasonLine("silent_login_failed", code);
    events.emit(
      "failure",
      { ...about(login), during: "callback", kind: "refusal", reason: code },
      line,
    );
    return redirect(failureAt(login, code, settings.publicPath) ?? login.final_redirect);
  });
}

/** The provider of a login, as events carry it. */
const about = ({ issuer, provider }: PendingLogin) => withoutUndefined({ provider, issuer });

/** The ending for a callback that idpauth itself refuses. */
function refusal(
  { context, login }: Attempt,
  tokens: Fate,
  reason: string,
  reply: Ending["reply"],
): Ending {
  return new Ending(tokens, () => {
    context.events.refused("callback", reason, about(login));
    return reply();
  });
}

async function page({ opened, context, login }: Attempt, failure: Failure): Promise<Reply> {
  const failedAt = failureAt(login, failure.code, context.pages.publicPath);
  if (failedAt !== undefined) return redirect(failedAt);
  return failureReply(failure, opened.request, context.pages, "html");
}

/**
 * The ending for a step that threw. An outage must not end a session that stays here, so it drops
 * the tokens.
 */
function failed({ context, login, hadCredentials }: Attempt, error: unknown): Ending {
  const isOutage =
    error instanceof ProviderUnavailableError || error instanceof StoreUnavailableError;
  return new Ending(hadCredentials && isOutage ? "dropped" : "revoked", () => {
    context.events.failed("callback", error, about(login));
    const code = failureCodeOf(error);
    const failedAt = code && failureAt(login, code, context.pages.publicPath);
    if (failedAt === undefined) throw error;
    return redirect(failedAt);
  });
}

/** The authorization response, as the query of the callback has it. */
type AuthorizationResponse =
  | { readonly kind: "code"; readonly code: string }
  | { readonly kind: "error"; readonly code: SignInErrorCode }
  | { readonly kind: "invalid"; readonly reason: "iss" | "parameters" | "provider" };

/**
 * A code that a provider can issue (RFC 6749 appendix A.11), of a length that fits a URL. No other
 * code is sent to the provider.
 */
const CODE = /^[\x20-\x7e]{1,8192}$/;

/** Reads the authorization response (RFC 6749 section 4.1.2) of a login whose state is known. */
function readAuthorizationResponse(
  query: URLSearchParams,
  login: PendingLogin,
  facts: ProviderFacts,
): AuthorizationResponse {
  const iss = single(query, "iss");
  const error = single(query, "error");
  const code = single(query, "code");
  // RFC 9207 section 2.4: compared if present, on errors too; required if the provider announces
  // it.
  const fits = (value: string) => facts.isResponseIssuer?.(value) ?? value === facts.issuer;
  const isIssRight = iss.value === undefined ? !facts.sendsIss : fits(iss.value) && !iss.repeated;
  if (!isIssRight || login.issuer !== facts.issuer) return { kind: "invalid", reason: "iss" };
  if (error.repeated || code.repeated) return { kind: "invalid", reason: "parameters" };
  if (error.value !== undefined && error.value !== "")
    return { kind: "error", code: signInErrorCode(error.value) };
  if (code.value !== undefined && CODE.test(code.value)) return { kind: "code", code: code.value };
  return { kind: "invalid", reason: "parameters" };
}

/**
 * Ends the user's sessions beyond `IDP_SESSIONS_PER_USER`. Never rejects: if the store fails, the
 * next sign-in ends them.
 */
async function endSurplusSessions(
  user: IdInfo | undefined,
  newest: string | undefined,
  context: EndpointContext,
): Promise<void> {
  const { settings, subjectSessions } = context;
  if (settings.sessionsPerUser === 0 || subjectSessions === undefined || !hasSubject(user)) return;
  if (newest === undefined) return;
  const announce = () =>
    notifyOfEnd({ reason: "too_many_sessions", iss: user.iss, sub: user.sub }, context);
  await subjectSessions
    .endSurplus(user, { most: settings.sessionsPerUser, newest, announce })
    .catch(() => undefined);
}
