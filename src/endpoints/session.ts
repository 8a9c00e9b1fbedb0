import { isOutage } from "../errors.js";
import { jsonText, queryOf, single, type Reply } from "../http/request-and-replies.js";
import { remaining, type EndReason } from "../record/session-policy.js";
import { userPayload, type UserPayload } from "../record/identity.js";
import { sessionView } from "../record/session-view.js";
import { epochSeconds } from "../clock.js";
import type { Access } from "../access/session-access.js";
import type { EndpointContext } from "./context.js";
import type { SessionRequest } from "./session-request.js";
import { retryAfterOf } from "./failure-reply.js";

/**
 * The body of `GET /idpauth/session`. With status 503 (an outage of the provider or the store) the body says signed out, but the user
 * may still be signed in: read the status first. The status is 200 otherwise.
 */
export interface SessionProbe {
  readonly authenticated: boolean;
  /** Null when signed out. */
  readonly user: UserPayload | null;
}

/** What `?details=true` adds to a response with status 200: seconds until each limit, for a front end that warns before the session ends. */
export interface SessionDetails {
  /** Why the user is signed out; null when signed in. */
  readonly reason: EndReason | null;
  /** Seconds until the ID token expires; idpauth then refreshes it where it can. Null when there is no usable ID token. */
  readonly expires_in: number | null;
  /** Seconds until the maximum age of the session (`IDP_SESSION_MAX_AGE`); null without one. */
  readonly max_age_expires_in: number | null;
  /**
   * Seconds until the idle timeout (`IDP_SESSION_IDLE_TIMEOUT`); null without one. This request counts as activity unless it says
   * `?slide=false`.
   */
  readonly idle_expires_in: number | null;
  /** Seconds until the provider's own limit (claim `session_expiry` of the ID token); null without one. */
  readonly session_expiry_expires_in: number | null;
  /** The result of the application's `clientData`. Absent when signed out, or without that option. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/** The body of `GET /idpauth/session?details=true` with status 200. */
export type DetailedSessionProbe = SessionProbe & SessionDetails;

/** What the browser may see of a session: the probe with details. The record has passed the policy gate. */
export function clientState(
  access: Access,
  slide: boolean,
  context: Pick<EndpointContext, "settings" | "clock" | "application">,
): DetailedSessionProbe {
  const { settings, clock, application } = context;
  const details = detailsOf(access, slide, context);
  if (!access.authenticated) return { authenticated: false, user: null, ...details };
  const view = sessionView(access.record, settings, epochSeconds(clock));
  const data = view === null ? null : application.clientData(view);
  return { authenticated: true, user: userPayload(access.record.id_info), ...details, ...(data !== null && { data }) };
}

const SIGNED_OUT = JSON.stringify({ authenticated: false, user: null } satisfies SessionProbe);

/** GET {mountPath}session: the probe. It runs the whole gate, with refresh and idle stamp, and says whether the user is signed in. */
export async function session(visit: SessionRequest, context: EndpointContext): Promise<Reply> {
  const query = queryOf(visit.request.target);
  const parameters = query === "" ? undefined : new URLSearchParams(query);
  try {
    if (visit.request.method === "HEAD") return jsonText(await bodyOfGet(parameters, visit, context));
    const slide = !isExactly(parameters, "slide", "false");
    const access = await context.sessions.access(visit.session, { slide, renew: true });
    if (isExactly(parameters, "details", "true")) return withCookies(jsonText(JSON.stringify(clientState(access, slide, context))), visit);
    if (!access.authenticated) return jsonText(SIGNED_OUT);
    const body = JSON.stringify({ authenticated: true, user: userPayload(access.record.id_info) } satisfies SessionProbe);
    return withCookies(jsonText(body), visit);
  } catch (error) {
    if (!isOutage(error)) throw error;
    // A client that reads only the body must not see a signed-in user. The status says that nothing was decided.
    return jsonText(SIGNED_OUT, error.status, { "Retry-After": String(retryAfterOf(error)) });
  }
}

/** The body that GET would have, since some servers send its length for HEAD. Empty if only a refresh would tell it. */
async function bodyOfGet(
  parameters: URLSearchParams | undefined,
  { session }: SessionRequest,
  { sessions }: EndpointContext,
): Promise<string> {
  const { authenticated, reason } = await sessions.explain(session);
  if (parameters !== undefined || reason === "id_token_expired" || reason === "review_due") return "";
  const record = authenticated ? await session.read() : undefined;
  return record === undefined ? SIGNED_OUT : JSON.stringify({ authenticated: true, user: userPayload(record.id_info) });
}

function isExactly(parameters: URLSearchParams | undefined, name: string, value: string): boolean {
  if (parameters === undefined) return false;
  const given = single(parameters, name);
  return given.value === value && !given.repeated;
}

function detailsOf(access: Access, slide: boolean, { settings, clock }: Pick<EndpointContext, "settings" | "clock">): SessionDetails {
  const now = epochSeconds(clock);
  // The record was read before this access moved the idle stamp.
  const hasSlid = access.authenticated && slide && settings.sessionIdleTimeout !== null;
  const record = hasSlid ? { ...access.record, idp_last_active: now } : access.record;
  const left = record?.credentials === undefined ? undefined : remaining(record, settings, now);
  return {
    reason: access.authenticated ? null : access.reason,
    expires_in: left?.idToken ?? null,
    max_age_expires_in: left?.maxAge ?? null,
    idle_expires_in: left?.idle ?? null,
    session_expiry_expires_in: left?.sessionExpiry ?? null,
  };
}

function withCookies(reply: Reply, visit: SessionRequest): Reply {
  return visit.session.setCookies.length === 0 ? reply : { ...reply, setCookies: visit.session.setCookies };
}
