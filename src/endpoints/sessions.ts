import { announceLogouts } from "../access/announce-logout.js";
import { epochSeconds } from "../clock.js";
import { isOutage } from "../errors.js";
import { isSameOrigin, json, preferredType, redirect, single, type Reply } from "../http/request-and-replies.js";
import { hasSubject, type Claims } from "../record/identity.js";
import type { ListedSession } from "../sessions/subject-sessions.js";
import type { EndpointContext } from "./context.js";
import { failureReply, outageReply } from "./failure-reply.js";
import { readForm } from "./form.js";
import { blockedUser } from "./guard.js";
import { endOwnSession, revokeEnded } from "./local-logout.js";
import { badParameters } from "./parameters.js";
import type { SessionRequest } from "./session-request.js";

/** GET {mountPath}sessions: the user's sessions, as a page or as JSON. POST: ends one of them (`end=<id>`), all others, or all. */
export async function sessions(visit: SessionRequest, context: EndpointContext): Promise<Reply> {
  const { request, session, origin } = visit;
  const { settings, pages, subjectSessions, events } = context;
  try {
    const isPost = request.method === "POST";
    if (isPost && !isSameOrigin(request, origin)) return failureReply({ code: "cross_origin" }, request, pages, "html");
    const outcome = await context.sessions.access(session, { renew: true });
    if (!outcome.authenticated) return blockedUser(visit, outcome.reason, settings).reply;
    const user = outcome.record.id_info;
    // idpauth signs in no user without `iss` and `sub`.
    if (!hasSubject(user) || subjectSessions === undefined) return failureReply({ code: "not_found" }, request, pages, "html");
    if (isPost) return await endSessions(visit, user, context);
    const listed = await subjectSessions.list(user, session.key);
    const reply = isJson(visit)
      ? json({ sessions: listed.map(memberOf) })
      : pages.sessions({ sessions: listed, now: epochSeconds(context.clock) }, request);
    return { ...reply, setCookies: session.setCookies };
  } catch (error) {
    if (isOutage(error)) events.failed("session", error);
    return outageReply(error, request, pages, { label: "action.tryAgain", href: `${pages.publicPath}sessions` });
  }
}

function isJson({ request }: SessionRequest): boolean {
  return preferredType(request.header("accept")) === "json";
}

/** A session in JSON; times in epoch seconds. */
function memberOf({ id, label, loginAt, lastActive, current }: ListedSession): object {
  return { id, label, login_at: loginAt, last_active: lastActive, current };
}

async function endSessions(visit: SessionRequest, user: Claims, context: EndpointContext): Promise<Reply> {
  const { request, session } = visit;
  const { subjectSessions, pages, clock } = context;
  const { publicPath } = pages;
  const form = await readForm(request, clock);
  const end = form === undefined ? { value: undefined, repeated: false } : single(form, "end");
  if (end.value === undefined || end.value === "" || end.repeated || subjectSessions === undefined) {
    const reason = "The form has one field end: the id of a session, others, or all";
    return badParameters([{ name: "end", options: [], reason }], request, pages);
  }
  let ended = 0;
  let isOwn = end.value === "all";
  if (end.value === "others" || end.value === "all") {
    ended = await subjectSessions.endAll(user, session.key);
  } else {
    const listed = await subjectSessions.list(user, session.key);
    isOwn = listed.some(({ id, current }) => current && id === end.value);
    if (!isOwn && (await subjectSessions.end(user, end.value))) ended = 1;
  }
  announceLogouts(ended, user, context);
  if (isOwn) {
    const record = await endOwnSession(visit, context);
    if (record !== undefined) {
      ended += 1;
      context.tasks.add(revokeEnded(record, context));
    }
  }
  const reply = isJson(visit) ? json({ status: "ended", ended }) : redirect(isOwn ? publicPath : `${publicPath}sessions`, 303);
  return { ...reply, setCookies: session.setCookies };
}
