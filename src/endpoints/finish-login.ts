import { createHash } from "node:crypto";
import { epochSeconds } from "../clock.js";
import { identityOf } from "../events/event-hub.js";
import { redirect, type Reply } from "../http/reply.js";
import type { Failure } from "../pages/failure-reply.js";
import { dataOfSameUser, type Review } from "../record/application-data.js";
import type { SignIn } from "../record/credentials.js";
import { isSameUser } from "../record/identity.js";
import {
  findLogin,
  isAlive,
  signedIn,
  withoutExchange,
  withoutLogin,
} from "../record/pending-logins.js";
import { isElsewhere } from "../record/record-origin.js";
import { userIn, type SessionRecord } from "../record/record.js";
import { judge } from "../record/session-policy.js";
import {
  isSilentFailure,
  readAuthorizationResponse,
  type AuthorizationResponse,
} from "./authorization-response.js";
import {
  anotherAccount,
  ending,
  failed,
  failurePage,
  linkInvalid,
  refusal,
  withoutCode,
  type Attempt,
  type Callback,
  type Ending,
  type Fate,
  type ProviderAnswer,
} from "./callback-endings.js";
import { endSurplusSessions } from "./end-surplus-sessions.js";
import { withDecision } from "./other-site-logout.js";
import { repeatedCallback } from "./repeated-callback.js";
import type { RunningExchanges } from "./running-exchanges.js";
import { checkUser } from "./user-check.js";

/** The result of the exchange. */
interface Received {
  readonly kind: "received";
  /** The record that the login was removed from. */
  readonly left: SessionRecord;
  readonly signIn: SignIn;
}

/** Which login a callback finishes. */
interface Finish {
  readonly state: string;
  readonly exchanges: RunningExchanges;
}

export async function finishLogin(
  callback: Callback,
  answer: ProviderAnswer,
  { state, exchanges }: Finish,
): Promise<Reply> {
  const { session } = callback.opened;
  const { clock } = callback.context;
  const startedAt = epochSeconds(clock);
  const stateHash = createHash("sha256").update(state).digest("base64url");
  const record = await session.read();
  const login = record && findLogin(record, state);
  // The browser is at another origin of ours than the login.
  if (isElsewhere(login?.origin, callback.opened.origin)) return linkInvalid(callback);
  if (login === undefined) return repeatedCallback(callback, { stateHash, record, exchanges });
  if (!isAlive(login, startedAt)) return linkInvalid(callback, login);
  const attempt: Attempt = {
    ...callback,
    ...answer,
    login,
    stateHash,
    key: session.key ?? "",
    hadCredentials: record?.credentials !== undefined,
    startedAt,
    started: clock.monotonic(),
    exchanges,
  };
  const end = await takeSteps(attempt).catch((error: unknown) => failed(attempt, error));
  settleTokens(attempt, end.tokens);
  await exchangeEnded(attempt, end.tokens);
  return end.reply();
}

/**
 * Tells the requests that wait for this exchange, in every process. A new session has no such
 * member, and nobody waits any longer than for a slow exchange if the store fails.
 */
async function exchangeEnded(attempt: Attempt, fate: Fate): Promise<void> {
  const { endExchange } = attempt;
  if (endExchange === undefined) return;
  if (fate !== "stored") await endInRecord(attempt);
  endExchange();
}

async function endInRecord({ opened, stateHash }: Attempt): Promise<void> {
  await opened.session.update((fresh) => withoutExchange(fresh, stateHash)).catch(() => undefined);
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
  if (received.kind === "ended") return received;
  const refused = checkUser(attempt, received.left, received.signIn);
  if (refused !== undefined) return refused;
  const decided = await decide(attempt, received);
  if (decided.kind === "ended") return decided;
  const stored = await store(attempt, received, decided);
  if (stored.kind === "ended") return stored;
  return (await overtaken(attempt, received.signIn)) ?? welcome(attempt, stored);
}

/** The only place that revokes tokens of a sign-in. */
function settleTokens(
  { context: { tasks, orphanedTokens }, registration, issued, startedAt }: Attempt,
  fate: Fate,
): void {
  if (issued === undefined) return;
  const { provider } = registration;
  if (fate === "revoked") tasks.add(orphanedTokens.discard(provider, issued));
  // Without the session's key: whether another tab's sign-in has replaced it is checked before, and
  // here this one may have done so.
  if (fate === "overtaken")
    tasks.add(
      orphanedTokens.revoke(provider, {
        key: "",
        tokens: issued,
        idInfo: issued.idInfo,
        provider: registration.key,
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
    const claimed = await claimState(attempt, response);
    if (claimed.kind === "ended") return claimed;
    if (response.kind !== "code") return withoutCode(attempt, response);
    return {
      kind: "received",
      left: claimed.left,
      signIn: await exchange(attempt, response.code),
    };
  } finally {
    release?.();
  }
}

interface Claimed {
  readonly kind: "claimed";
  /** The record that the login was removed from. */
  readonly left: SessionRecord;
}

/** Removes the login from the session. */
async function claimState(
  attempt: Attempt,
  response: AuthorizationResponse,
): Promise<Claimed | Ending> {
  const { opened, login, stateHash, startedAt, exchanges, key } = attempt;
  const silentFailedAt = isSilentFailure(login, response) ? startedAt : undefined;
  // A framework's session leaves no trace that a repeated callback could wait for.
  const isExchanged = response.kind === "code" && opened.session.takeTrace !== undefined;
  const claimed = await opened.session
    .update((fresh) =>
      withoutLogin(fresh, { state: login.state, stateHash, silentFailedAt, isExchanged }),
    )
    .catch(async (error: unknown) => {
      // The store may have written it before it failed. The code is not exchanged.
      if (isExchanged) await endInRecord(attempt);
      throw error;
    });
  if (claimed.changed) {
    if (isExchanged) attempt.endExchange = exchanges.begin(key, stateHash);
    return { kind: "claimed", left: claimed.record };
  }
  // Another request has used the state, or the session is gone.
  const otherwise = () => signedInElsewhere(attempt)?.reply() ?? linkInvalid(attempt, login);
  const { record } = claimed;
  return ending("none", () =>
    repeatedCallback(attempt, { stateHash, record, exchanges, otherwise }),
  );
}

async function exchange(attempt: Attempt, code: string): Promise<SignIn> {
  const { login, registration } = attempt;
  const signIn = await registration.provider.exchange({
    code,
    redirectUri: login.redirect_uri,
    nonce: login.nonce,
    verifier: login.verifier,
    dpopKey: login.dpop_key,
    dropped: (tokens) => (attempt.issued = tokens),
  });
  const { credentials, idInfo } = signIn;
  attempt.issued = {
    accessToken: credentials.token,
    refreshToken: credentials.refresh_token,
    idInfo,
  };
  return { ...signIn, sourceKey: registration.sourceKey };
}

interface Accepted {
  readonly kind: "accepted";
  readonly review: Review;
}

/** Runs the claims schema and `onSignIn`. */
async function decide(attempt: Attempt, { left, signIn }: Received): Promise<Accepted | Ending> {
  const { opened, context, login, postedName } = attempt;
  const { idInfo, userinfo, credentials } = signIn;
  const user = { idInfo, userinfo, credentials, provider: attempt.registration.key };
  const data = dataOfSameUser(left, signIn);
  const decision = await context.application.signIn(user, data, {
    request: opened.request,
    postedName,
  });
  if (decision.kind === "accepted") return decision;
  const code = decision.kind === "denied" ? "sign_in_denied" : "claims_rejected";
  const failure: Failure = {
    code,
    detail: decision.message,
    action: anotherAccount(login, context.settings.publicPath),
  };
  return refusal(attempt, {
    tokens: "revoked",
    reason: code,
    reply: () => failurePage(attempt, failure),
  });
}

interface Stored {
  readonly kind: "stored";
  readonly record: SessionRecord;
}

async function store(
  attempt: Attempt,
  { left, signIn }: Received,
  { review }: Accepted,
): Promise<Stored | Ending> {
  const { opened, context, login, key, startedAt, stateHash } = attempt;
  const { settings, application, orphanedTokens, tasks } = context;
  const now = epochSeconds(context.clock);
  const stampsActivity = settings.sessionIdleTimeout !== null;
  let replaced = left;
  const stored = await opened.session.regenerate(
    (fresh) => signedIn((replaced = fresh), { signIn, login, now, stampsActivity, review }),
    {
      trace: { stateHash, target: login },
      // At once: another tab's callback may find the old key gone before this one is done.
      replaced: () => orphanedTokens.sessionReplaced(key),
    },
  );
  if (stored === undefined) {
    // Another tab's sign-in came first, or a logout.
    const elsewhere = signedInElsewhere(attempt);
    return (
      elsewhere ??
      refusal(attempt, {
        tokens: "overtaken",
        reason: "logged_out_meanwhile",
        reply: () => failurePage(attempt, { code: "login_link_invalid" }),
      })
    );
  }
  const verdict = judge(replaced, settings, startedAt);
  if (!isSameUser(userIn(replaced), userIn(stored)))
    tasks.add(application.signedOut("replaced", replaced));
  else if (verdict.kind === "ended") tasks.add(application.signedOut(verdict.reason, replaced));
  return { kind: "stored", record: stored };
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
  return refusal(attempt, {
    tokens: "overtaken",
    reason: "logged_out_at_provider",
    async reply() {
      const reply = await failurePage(attempt, { code: "login_link_invalid" });
      return { ...reply, setCookies: opened.session.setCookies };
    },
  });
}

function welcome(
  { opened, context, registration, login, started }: Attempt,
  { record }: Stored,
): Ending {
  const { clock, events, settings } = context;
  return ending("stored", async () => {
    await endSurplusSessions(
      { claims: record.id_info, provider: registration.key },
      opened.session.key,
      context,
    );
    events.emit("login", {
      ...identityOf(record.id_info, registration.key),
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
    ? ending("dropped", () => redirect(login.final_redirect))
    : undefined;
}
