import { isOutage } from "../errors.js";
import { identityOf } from "../events/events.js";
import { isPrefetch, json, queryOf, redirect, type Reply } from "../http/request-and-replies.js";
import type { Credentials } from "../record/credentials.js";
import type { SessionRecord } from "../record/record.js";
import { LOGOUT_RESPONSES } from "../http/redirects.js";
import type { EndpointContext } from "./context.js";
import type { SessionRequest } from "./session-request.js";
import { failureReply, outageReply } from "./failure-reply.js";
import { badParameters, choice } from "./parameters.js";

/** Milliseconds for which the response waits for the revocation. The revocation continues afterwards. */
const PATIENCE = 1_000;

/** GET {mountPath}logout/: ends the session, then revokes its token at the provider. */
export async function logout(visit: SessionRequest, context: EndpointContext): Promise<Reply> {
  const { request, session } = visit;
  const { settings, events } = context;
  const { publicPath } = settings;
  if (isPrefetch(request)) return failureReply({ code: "prefetch_refused" }, request, publicPath, "json");
  const response = choice(new URLSearchParams(queryOf(request.target)), "response", LOGOUT_RESPONSES, "redirect");
  if (typeof response !== "string") {
    events.refused("logout", "invalid_parameter");
    return badParameters([response], request, publicPath);
  }
  try {
    // The session first: a provider that hangs must not keep a session alive.
    const record = await session.destroy();
    if (record?.credentials !== undefined) {
      const revocation = signedOut(record, record.credentials, context);
      context.tasks.add(revocation);
      context.tasks.add(context.application.signedOut("logout", record));
      await settledWithin(PATIENCE, revocation, context);
    }
  } catch (error) {
    if (isOutage(error)) events.failed("logout", error);
    return outageReply(error, request, publicPath, { label: "Try again", href: `${publicPath}logout/` });
  }
  const reply = response === "json" ? json({ status: "logged_out" }) : redirect(settings.authLogoutRedirectUrl ?? publicPath);
  return { ...reply, setCookies: session.setCookies };
}

/** Revokes the token of the destroyed session and then emits the logout event, with the result. */
async function signedOut(record: SessionRecord, credentials: Credentials, context: EndpointContext): Promise<void> {
  const { clock, events } = context;
  const started = clock.monotonic();
  const isRevoked = await revoke(credentials, record.idp_state.dropped_token, context);
  const duration = isRevoked === null ? undefined : clock.monotonic() - started;
  const revoked = isRevoked === null ? null : isRevoked && isNewest(record);
  events.emit("logout", { ...identityOf(record.id_info), revoked, ...(duration !== undefined && { duration }) });
}

/** Whether the provider has issued no newer tokens than the record's. With a lease, a refresh was running. */
function isNewest({ idp_state: state }: SessionRecord): boolean {
  return state.lease === undefined;
}

function settledWithin(milliseconds: number, work: Promise<void>, { clock }: EndpointContext): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.timer(milliseconds, resolve);
    work.then(resolve, reject).finally(cancel);
  });
}

/** Revokes the refresh token if there is one: the provider then also revokes its access tokens (RFC 7009). Null: revocation is off. */
async function revoke(
  credentials: Credentials,
  dropped: string | undefined,
  { settings, provider }: EndpointContext,
): Promise<boolean | null> {
  if (!settings.tokenRevokeOnLogout) return null;
  // A dropped token is the newest one, and it is still valid.
  const refreshToken = dropped ?? credentials.refresh_token;
  return refreshToken === undefined ? provider.revoke(credentials.token, "access_token") : provider.revoke(refreshToken, "refresh_token");
}
