import type { SessionRequest } from "../access/session-request.js";
import { epochSeconds } from "../clock.js";
import { isSourceKey } from "../config/provider-source.js";
import type { CommonSettings } from "../config/read-settings.js";
import { loginPath, loginUrlBackTo } from "../guard/login-url.js";
import { markIf } from "../http/cross-site-parameter.js";
import type { Origin } from "../http/redirects.js";
import type { Reply } from "../http/reply.js";
import { queryOf } from "../http/request.js";
import type { LandingState } from "../pages/landing-page.js";
import type { EndReason } from "../record/end-reason.js";
import { userPayload } from "../record/identity.js";
import { judge } from "../record/session-policy.js";
import { withoutUndefined } from "../record/without-undefined.js";
import type { EndpointContext } from "./context.js";

/**
 * GET {mountPath}: the landing page. It reads the session; it sends nothing to the provider and
 * writes nothing.
 */
export async function landing(
  { request, session, origin }: SessionRequest,
  context: EndpointContext,
): Promise<Reply> {
  const { settings, pages, clock } = context;
  const record = await session.read();
  const verdict = judge(record, settings, epochSeconds(clock));
  const user = userPayload(record?.id_info);
  let state: LandingState;
  if (session.endedBy !== undefined) state = { kind: "ended", reason: session.endedBy };
  else if (record?.credentials === undefined) state = { kind: "signed_out" };
  else if (verdict.kind !== "ended") state = { kind: "signed_in", user };
  else
    state = {
      kind: "ended",
      reason: verdict.reason,
      setting: governingSetting(verdict.reason, settings),
      user,
    };
  const query = new URLSearchParams(queryOf(request.target));
  const error = query.get("error");
  if (error === null) return pages.landing({ state }, request);
  const newest = record?.final_redirect;
  // If another tab's login started later and is in progress, it is that login's page.
  const page = record?.idp_state.logins?.at(-1)?.final_redirect === newest ? undefined : newest;
  const failed = { page, provider: query.get("provider"), origin };
  const retryHref = retryOf(failed, context);
  return pages.landing({ state, signInError: error, retryHref }, request);
}

interface FailedLogin {
  /** Where the login was to lead, if it's known. */
  readonly page: string | undefined;
  /** Of the address of the landing page, so it can be anything. */
  readonly provider: string | null;
  readonly origin: Origin | undefined;
}

/**
 * The address of the login that failed. Another site may have started that login, or have written
 * the address of this page, so it carries the mark.
 */
function retryOf(
  { page, provider: named, origin }: FailedLogin,
  { settings: { authFinalRedirectUrl, publicPath, providers }, source }: EndpointContext,
): string {
  const isSourced = source !== undefined && isSourceKey(named);
  const provider = isSourced ? named : providers?.find((key) => key === named);
  const parameters = { ...withoutUndefined({ provider }), ...markIf(true) };
  if (page === undefined || origin === undefined || page === (authFinalRedirectUrl ?? publicPath))
    return loginPath(publicPath, parameters);
  const absolute = page.startsWith("/") ? `${origin}${page}` : page;
  return loginUrlBackTo(loginPath(publicPath), absolute, parameters);
}

/** The setting that ended the session, with its value; undefined where no setting did. */
function governingSetting(
  reason: EndReason,
  settings: CommonSettings,
): { name: string; value: string } | undefined {
  switch (reason) {
    case "max_age":
      return { name: "IDP_SESSION_MAX_AGE", value: String(settings.sessionMaxAge) };
    case "idle":
      return { name: "IDP_SESSION_IDLE_TIMEOUT", value: String(settings.sessionIdleTimeout) };
    case "signed_in_before":
      return {
        name: "IDP_SESSIONS_NOT_BEFORE",
        value: new Date((settings.sessionsNotBefore ?? 0) * 1000).toISOString(),
      };
    case "auto_refresh_off":
      return { name: "IDP_SESSION_AUTO_REFRESH", value: "off" };
    default:
      return undefined;
  }
}
