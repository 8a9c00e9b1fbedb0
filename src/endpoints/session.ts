import { isOutage } from "../errors.js";
import { jsonText, queryOf, single, type Reply } from "../http/request-reply.js";
import type { SessionDetails, SessionProbe } from "./session-probe.js";
import { remaining } from "../record/policy.js";
import { userPayload } from "../record/identity.js";
import { epochSeconds } from "../clock.js";
import type { Access } from "../access/session-access.js";
import type { EndpointContext } from "./context.js";
import type { Visit } from "./visit.js";
import { retryAfterOf } from "./failure.js";

const SIGNED_OUT = JSON.stringify({ authenticated: false, user: null } satisfies SessionProbe);

/** GET {mountPath}session: the probe. Runs the whole gate; the policy-aware truth about the visitor. */
export async function session(visit: Visit, context: EndpointContext): Promise<Reply> {
  const query = queryOf(visit.request.target);
  const parameters = query === "" ? undefined : new URLSearchParams(query);
  try {
    if (visit.request.method === "HEAD") return jsonText(await bodyOfGet(parameters, visit, context));
    const slide = !isExactly(parameters, "slide", "false");
    const access = await context.sessions.access(visit.session, { slide, renew: true });
    const details = isExactly(parameters, "details", "true") ? detailsOf(access, slide, context) : undefined;
    if (access.authenticated) {
      const body = JSON.stringify({ authenticated: true, user: userPayload(access.record.id_info), ...details } satisfies SessionProbe);
      return withCookies(jsonText(body), visit);
    }
    return jsonText(
      details === undefined ? SIGNED_OUT : JSON.stringify({ authenticated: false, user: null, ...details } satisfies SessionProbe),
    );
  } catch (error) {
    if (!isOutage(error)) throw error;
    // Whoever reads only the body sees nobody signed in; the status says that this is no verdict.
    return jsonText(SIGNED_OUT, error.status, { "Retry-After": String(retryAfterOf(error)) });
  }
}

/** For HEAD: what GET would say, since some servers tell its length; nothing where only a refresh, or its side effects, would tell. */
async function bodyOfGet(parameters: URLSearchParams | undefined, { session }: Visit, { sessions }: EndpointContext): Promise<string> {
  const { authenticated, reason } = await sessions.explain(session);
  if (parameters !== undefined || reason === "id_token_expired") return "";
  const record = authenticated ? await session.read() : undefined;
  return record === undefined ? SIGNED_OUT : JSON.stringify({ authenticated: true, user: userPayload(record.id_info) });
}

function isExactly(parameters: URLSearchParams | undefined, name: string, value: string): boolean {
  if (parameters === undefined) return false;
  const given = single(parameters, name);
  return given.value === value && !given.repeated;
}

function detailsOf(access: Access, slide: boolean, { settings, clock }: EndpointContext): SessionDetails {
  const now = epochSeconds(clock);
  // The record was read before this very access moved the stamp.
  const hasSlid = access.authenticated && slide && settings.sessionIdleTimeout !== null;
  const record = hasSlid ? { ...access.record, idp_last_active: now } : access.record;
  const left = record?.credentials === undefined ? undefined : remaining(record, settings, now);
  return {
    reason: access.authenticated ? null : access.reason,
    expires_in: left?.idToken ?? null,
    max_age_expires_in: left?.maxAge ?? null,
    idle_expires_in: left?.idle ?? null,
  };
}

function withCookies(reply: Reply, visit: Visit): Reply {
  return visit.session.setCookies.length === 0 ? reply : { ...reply, setCookies: visit.session.setCookies };
}
