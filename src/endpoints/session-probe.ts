import type { Access } from "../access/session-access.js";
import type { SessionRequest } from "../access/session-request.js";
import { isOutage } from "../errors.js";
import { jsonText, type Reply } from "../http/reply.js";
import { queryOf, single } from "../http/request.js";
import { outageOf, retryAfterOf } from "../pages/failure-reply.js";
import type { ClientState } from "../record/client-state.js";
import { hasSubject, userPayload, type UserPayload } from "../record/identity.js";
import { remaining, untilEnd } from "../record/session-policy.js";
import { sessionView } from "../record/session-view.js";
import { withoutUndefined } from "../record/without-undefined.js";
import type { EndpointContext } from "./context.js";

const NOBODY = { account: null, provider: null } as const;

type ClientStateParts = Pick<EndpointContext, "settings" | "application" | "accountOf">;

/**
 * What the browser may see of a session: the probe with details. The record has passed the policy.
 */
export function clientState(
  access: Access,
  slide: boolean,
  { settings, application, accountOf }: ClientStateParts,
): ClientState {
  const limits = limitsOf(access, slide, settings);
  if (!access.authenticated) {
    const { reason } = access;
    return { authenticated: false, user: null, reason, ...NOBODY, ...limits, data: null };
  }
  const { id_info: claims } = access.record;
  const { provider } = access.owner;
  const view = sessionView(access.record, { policy: settings, now: access.at, provider });
  return {
    authenticated: true,
    user: userPayload(claims),
    reason: null,
    account: hasSubject(claims)
      ? accountOf({ iss: claims.iss, sub: claims.sub, ...withoutUndefined({ provider }) })
      : null,
    provider: provider ?? null,
    ...limits,
    data: view === null ? null : application.clientData(view),
  };
}

/** The body without `details`. */
interface Probe {
  readonly authenticated: boolean;
  readonly user: UserPayload | null;
}

const SIGNED_OUT = JSON.stringify({ authenticated: false, user: null } satisfies Probe);

/**
 * GET {mountPath}session: the probe. It applies the whole policy, with refresh and idle stamp, and
 * says whether the user is signed in.
 */
export async function session(opened: SessionRequest, context: EndpointContext): Promise<Reply> {
  const query = queryOf(opened.request.target);
  const parameters = query === "" ? undefined : new URLSearchParams(query);
  try {
    if (opened.request.method === "HEAD")
      return jsonText(await bodyOfGet(parameters, opened, context));
    const slide = !isExactly(parameters, "slide", "false");
    const access = await context.access.access(opened.session, { slide, sendsCookie: true });
    if (isExactly(parameters, "details", "true"))
      return withCookies(jsonText(JSON.stringify(clientState(access, slide, context))), opened);
    if (!access.authenticated) return jsonText(SIGNED_OUT);
    const body = JSON.stringify({
      authenticated: true,
      user: userPayload(access.record.id_info),
    } satisfies Probe);
    return withCookies(jsonText(body), opened);
  } catch (error) {
    if (!isOutage(error)) throw error;
    // A client that reads only the body must not see a signed-in user. The status says that nothing
    // was decided.
    const { loginUrl } = outageOf(error, `${context.settings.publicPath}login/`);
    const body =
      loginUrl === undefined
        ? SIGNED_OUT
        : JSON.stringify({ authenticated: false, user: null, login_url: loginUrl });
    return jsonText(body, error.status, { "Retry-After": String(retryAfterOf(error)) });
  }
}

/**
 * The body that GET would have, since some servers send its length for HEAD. Empty if only a
 * refresh would tell it.
 */
async function bodyOfGet(
  parameters: URLSearchParams | undefined,
  { session }: SessionRequest,
  { access }: EndpointContext,
): Promise<string> {
  const { authenticated, reason } = await access.explain(session);
  if (parameters !== undefined || reason === "id_token_expired" || reason === "review_due")
    return "";
  const record = authenticated ? await session.read() : undefined;
  return record === undefined
    ? SIGNED_OUT
    : JSON.stringify({ authenticated: true, user: userPayload(record.id_info) });
}

function isExactly(parameters: URLSearchParams | undefined, name: string, value: string): boolean {
  if (parameters === undefined) return false;
  const given = single(parameters, name);
  return given.value === value && !given.repeated;
}

/** Seconds until each limit, as the probe has them. */
interface Limits {
  readonly ends_in: number | null;
  readonly expires_in: number | null;
  readonly max_age_expires_in: number | null;
  readonly idle_expires_in: number | null;
  readonly session_expiry_expires_in: number | null;
}

function limitsOf(access: Access, slide: boolean, settings: EndpointContext["settings"]): Limits {
  const { at: now } = access;
  // The record was read before this access moved the idle stamp.
  const hasSlid = access.authenticated && slide && settings.sessionIdleTimeout !== null;
  const record = hasSlid ? { ...access.record, idp_last_active: now } : access.record;
  const left = record?.credentials === undefined ? undefined : remaining(record, settings, now);
  const end =
    access.authenticated && record !== undefined ? untilEnd(record, settings, now) : Infinity;
  return {
    ends_in: end === Infinity ? null : end,
    expires_in: left?.idToken ?? null,
    max_age_expires_in: left?.maxAge ?? null,
    idle_expires_in: left?.idle ?? null,
    session_expiry_expires_in: left?.sessionExpiry ?? null,
  };
}

function withCookies(reply: Reply, opened: SessionRequest): Reply {
  return opened.session.setCookies.length === 0
    ? reply
    : { ...reply, setCookies: opened.session.setCookies };
}
