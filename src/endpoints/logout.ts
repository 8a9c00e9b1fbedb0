import { isOutage } from "../errors.js";
import { logLine } from "../events/log-lines.js";
import { isPrefetch, json, queryOf, redirect, type Reply } from "../http/request-and-replies.js";
import { LOGOUT_RESPONSES } from "../http/redirects.js";
import type { EndpointContext } from "./context.js";
import type { SessionRequest } from "./session-request.js";
import { failureReply, outageReply } from "./failure-reply.js";
import { endOwnSession, revokeEnded } from "./local-logout.js";
import { logoutAtProvider, NO_ENDPOINT, type LogoutAtProvider } from "./logout-at-provider.js";
import { badParameters, choice } from "./parameters.js";
import { within } from "./patience.js";

/** GET {mountPath}logout/: ends the session and revokes its token. If `logoutAtProvider` is on, redirects to the provider's logout. */
export function createLogout(): (visit: SessionRequest, context: EndpointContext) => Promise<Reply> {
  let hasReportedMissing = false;
  return (visit, context) =>
    logout(visit, context, (reason) => {
      if (reason === NO_ENDPOINT && hasReportedMissing) return;
      hasReportedMissing ||= reason === NO_ENDPOINT;
      context.events.log({ ...logLine("logout_not_at_provider"), details: { reason } });
    });
}

async function logout(visit: SessionRequest, context: EndpointContext, skipped: (reason: string) => void): Promise<Reply> {
  const { request, session } = visit;
  const { settings, events, tasks, revocations, clock } = context;
  const { pages } = context;
  const { publicPath } = settings;
  if (isPrefetch(request)) return failureReply({ code: "prefetch_refused" }, request, pages, "json");
  const response = choice(new URLSearchParams(queryOf(request.target)), "response", LOGOUT_RESPONSES, "redirect");
  if (typeof response !== "string") {
    events.refused("logout", "invalid_parameter");
    return badParameters([response], request, pages);
  }
  let atProvider: LogoutAtProvider | undefined;
  try {
    // The session first: a provider that hangs must not keep a session alive.
    const record = await endOwnSession(visit, context);
    if (record !== undefined) {
      atProvider = await logoutAtProvider(visit, record, response === "redirect", context, skipped);
      if (atProvider !== undefined) revocations.add(atProvider.state, () => revokeEnded(record, context));
      else {
        const revocation = revokeEnded(record, context);
        tasks.add(revocation);
        await within(clock, revocation).catch(() => undefined);
      }
    }
  } catch (error) {
    if (isOutage(error)) events.failed("logout", error);
    return outageReply(error, request, pages, { label: "action.tryAgain", href: `${publicPath}logout/` });
  }
  const reply =
    response === "json"
      ? json({ status: "logged_out", ...(atProvider !== undefined && { redirect_to: atProvider.url }) })
      : redirect(atProvider?.url ?? settings.authLogoutRedirectUrl ?? publicPath);
  return { ...reply, setCookies: session.setCookies };
}
