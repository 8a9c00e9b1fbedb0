import { revokeTokens } from "../access/orphaned-tokens.js";
import type { AuthenticatedRecord } from "../access/session-access.js";
import type { SessionRequest } from "../access/session-request.js";
import { failureReason, isOutage } from "../errors.js";
import { reasonLine } from "../events/log-lines.js";
import { CROSS_SITE } from "../http/cross-site-parameter.js";
import { json, redirect, type Reply } from "../http/reply.js";
import { queryOf, type IdpRequest } from "../http/request.js";
import {
  badParameters,
  outageReply,
  readChoice,
  type BadParameter,
} from "../pages/failure-reply.js";
import { withoutUndefined } from "../record/without-undefined.js";
import { lazily } from "../work/lazily.js";
import type { EndpointContext, EndpointRegistration } from "./context.js";
import type { EndedSession, LogoutAtProvider, LogoutOfSession } from "./logout-at-provider.js";
import { withPatience } from "./logout-patience.js";
import { cookiesAfterLogout, isByOtherSite } from "./other-site-logout.js";

export const LOGOUT_RESPONSES = ["json", "redirect"] as const;

/** Loaded at the start if the setting is on. */
export const loadLogoutAtProvider = lazily(() => import("./logout-at-provider.js"));

/**
 * GET {mountPath}logout/: ends the session and revokes its token. If `logoutAtProvider` is on,
 * redirects to the provider's logout.
 */
export async function logout(opened: SessionRequest, context: EndpointContext): Promise<Reply> {
  const { request } = opened;
  const { settings, pages, events } = context;
  const { publicPath } = settings;
  const bad: BadParameter[] = [];
  const query = new URLSearchParams(queryOf(request.target));
  const response = readChoice(
    query,
    { name: "response", options: LOGOUT_RESPONSES, standard: "redirect" },
    bad,
  );
  if (bad.length > 0) {
    events.refused("logout", "invalid_parameter");
    return badParameters(bad, request, pages);
  }
  try {
    // The session first: a provider that hangs must not keep a session alive.
    const ended = await endOwnSession(opened, context);
    const setCookies = cookiesAfterLogout(opened, settings, ended !== undefined);
    const withHint = response === "redirect";
    const continuesAt = ended && (await revokeAtLogout(opened, context, { ended, withHint }));
    const reply =
      response === "json"
        ? json(withoutUndefined({ status: "logged_out", redirect_to: continuesAt }))
        : redirect(continuesAt ?? settings.authLogoutRedirectUrl ?? publicPath);
    return { ...reply, setCookies };
  } catch (error) {
    if (isOutage(error)) events.failed("logout", error);
    return outageReply(error, request, {
      pages,
      action: {
        label: "action.tryAgain",
        href: logoutAgain(request, publicPath),
      },
    });
  }
}

/** The address of the same logout. It keeps the mark of a logout that another site began. */
function logoutAgain(request: IdpRequest, publicPath: string): string {
  return `${publicPath}logout/${isByOtherSite(request) ? `?${CROSS_SITE}=true` : ""}`;
}

/**
 * Revokes the token of an ended session: at once, or after the provider's logout.
 *
 * @returns the address of that logout; undefined if there is none
 */
export async function revokeAtLogout(
  opened: SessionRequest,
  context: EndpointContext,
  { ended, withHint }: LogoutOfSession,
): Promise<string | undefined> {
  const { tasks, revocations, clock } = context;
  const atProvider = await logoutAtProvider(opened, context, { ended, withHint });
  if (atProvider !== undefined) {
    revocations.add(atProvider.state, () => revokeEnded(ended, context));
    return atProvider.url;
  }
  const revocation = revokeEnded(ended, context);
  tasks.add(revocation);
  await withPatience(clock, revocation).catch(() => undefined);
  return undefined;
}

/** Undefined: no logout at the provider follows. */
async function logoutAtProvider(
  opened: SessionRequest,
  context: EndpointContext,
  logout: LogoutOfSession,
): Promise<LogoutAtProvider | undefined> {
  const { registration } = logout.ended.owner;
  if (registration === undefined || !endsAtProvider(registration)) return undefined;
  try {
    return await (await loadLogoutAtProvider()).logoutAtProvider(opened, context, logout);
  } catch (error) {
    // The session in the application has already ended.
    const line = reasonLine("logout_not_at_provider", failureReason(error));
    context.events.log(line, registration.key);
    return undefined;
  }
}

/** Whether a logout goes on at the provider. */
export function endsAtProvider({ settings }: EndpointRegistration): boolean {
  return settings.logoutAtProvider !== false;
}

/** Ends the session of a request. Undefined: no user was signed in. */
export async function endOwnSession(
  { session }: SessionRequest,
  { tasks, application, access, owners }: EndpointContext,
): Promise<EndedSession | undefined> {
  const record = await session.destroy();
  if (record?.credentials === undefined) return undefined;
  access.sawLast(session, record);
  tasks.add(application.signedOut("logout", record));
  return { record: record as AuthenticatedRecord, owner: owners.of(record) };
}

/** Revokes the token of an ended session and then emits the logout event, with the result. */
async function revokeEnded(ended: EndedSession, context: EndpointContext): Promise<void> {
  const { clock, events } = context;
  const started = clock.monotonic();
  const isRevoked = await revoke(ended, context);
  const duration = isRevoked === null ? undefined : clock.monotonic() - started;
  // With a lease, a refresh was running: the provider may have issued newer tokens than the
  // record's.
  const revoked =
    isRevoked === null ? null : isRevoked && ended.record.idp_state.lease === undefined;
  events.emit("logout", {
    ...ended.owner.identity,
    revoked,
    ...(duration !== undefined && { duration }),
  });
}

/** Revokes what the session still had. Null: revocation is off. */
async function revoke(
  { record, owner }: EndedSession,
  { settings }: EndpointContext,
): Promise<boolean | null> {
  const { credentials, idp_state: state } = record;
  const provider = owner.registration?.provider;
  if (!settings.tokenRevokeOnLogout || provider === undefined) return null;
  return revokeTokens(provider, {
    accessToken: credentials.token,
    // A dropped token is the newest one, and it is still valid.
    refreshToken: state.dropped_token ?? credentials.refresh_token,
  });
}
