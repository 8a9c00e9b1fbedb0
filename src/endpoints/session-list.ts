import { notifyOfLogout } from "../access/notify-application.js";
import type { SessionRequest } from "../access/session-request.js";
import { epochSeconds } from "../clock.js";
import { isOutage } from "../errors.js";
import { blockedUser } from "../guard/blocked-responses.js";
import { wantsPage } from "../http/accept.js";
import { isSameOrigin } from "../http/initiator.js";
import { json, redirect, script, type Reply } from "../http/reply.js";
import { single } from "../http/request.js";
import { failureReply, outageReply, badParameters } from "../pages/failure-reply.js";
import { TIME_FORMAT } from "../pages/texts.js";
import { hasSubject, type Subject, userPayload } from "../record/identity.js";
import { withoutUndefined } from "../record/without-undefined.js";
import { sessionId, type ListedSession } from "../sessions/subject-sessions.js";
import type { EndpointContext } from "./context.js";
import { endOwnSession, endsAtProvider, revokeAtLogout } from "./logout.js";
import { readForm } from "./posted-form.js";

/**
 * GET {mountPath}sessions: the user's sessions, as a page or as JSON. POST: ends one of them
 * (`end=<id>`), all others, or all.
 */
export async function sessions(opened: SessionRequest, context: EndpointContext): Promise<Reply> {
  const { request, session, origin } = opened;
  const { pages, subjectSessions, events, registrations, source } = context;
  try {
    const isPost = request.method === "POST";
    if (isPost && !isSameOrigin(request, origin))
      return await failureReply({ code: "cross_origin" }, request, { pages, otherwise: "html" });
    const outcome = await context.access.access(session, { sendsCookie: true });
    if (!outcome.authenticated) return (await blockedUser(opened, outcome, context)).reply;
    const user = outcome.record.id_info;
    // idpauth signs in no user without `iss` and `sub`.
    if (!hasSubject(user) || subjectSessions === undefined)
      return await failureReply({ code: "not_found" }, request, { pages, otherwise: "html" });
    const { iss, sub } = user;
    const subject = { iss, sub, ...withoutUndefined({ provider: outcome.owner.provider }) };
    if (isPost) return await endSessions(opened, subject, context);
    const { sessions: listed, hasMore } = await subjectSessions.list(subject, session.key);
    const isOneOfSeveral = registrations.length > 1 || source !== undefined;
    const provider = isOneOfSeveral ? outcome.owner.registration?.name : undefined;
    const reply = isJson(opened)
      ? json({ sessions: listed.map(memberOf), has_more: hasMore })
      : await pages.sessions(
          {
            sessions: listed,
            hasMore,
            provider,
            leadsToProvider:
              outcome.owner.registration !== undefined &&
              endsAtProvider(outcome.owner.registration),
            user: userPayload(user),
            now: epochSeconds(context.clock),
          },
          request,
        );
    return { ...reply, setCookies: session.setCookies };
  } catch (error) {
    if (isOutage(error)) events.failed("session", error);
    return outageReply(error, request, {
      pages,
      action: {
        label: "action.tryAgain",
        href: `${pages.publicPath}sessions`,
      },
    });
  }
}

function isJson({ request }: SessionRequest): boolean {
  return !wantsPage(request, true);
}

/** A session in JSON; times in epoch seconds. */
function memberOf({ id, label, signedInAt, lastActive, current }: ListedSession): object {
  return { id, label, signed_in_at: signedInAt, last_active: lastActive, current };
}

async function endSessions(
  opened: SessionRequest,
  user: Subject,
  context: EndpointContext,
): Promise<Reply> {
  const { request, session } = opened;
  const { subjectSessions, pages, clock } = context;
  const form = await readForm(request, clock);
  const end = form === undefined ? { value: undefined, repeated: false } : single(form, "end");
  if (
    end.value === undefined ||
    end.value === "" ||
    end.repeated ||
    subjectSessions === undefined
  ) {
    const reason = "The form has one field end: the id of a session, others, or all";
    return badParameters([{ name: "end", options: [], reason }], request, pages);
  }
  let ended = 0;
  let continuesAt: string | undefined;
  const isOwn =
    end.value === "all" || (session.key !== undefined && end.value === sessionId(session.key));
  const announce = () => notifyOfLogout(user, context);
  if (end.value === "others" || end.value === "all")
    ended = await subjectSessions.endAll(user, session.key, announce);
  else if (!isOwn && (await subjectSessions.end(user, end.value, announce))) ended = 1;
  if (isOwn) {
    const own = await endOwnSession(opened, context);
    if (own !== undefined) {
      ended += 1;
      continuesAt = await revokeAtLogout(opened, context, {
        ended: own,
        withHint: !isJson(opened),
      });
    }
  }
  // The user's own session ends as by a logout.
  const next = isOwn
    ? (continuesAt ?? context.settings.authLogoutRedirectUrl ?? pages.publicPath)
    : `${pages.publicPath}sessions`;
  const reply = isJson(opened)
    ? json(withoutUndefined({ status: "ended", ended, redirect_to: continuesAt }))
    : redirect(next, 303);
  return { ...reply, setCookies: session.setCookies };
}

/**
 * Writes each time of the page in the reader's zone, also in the labels of the buttons next to it.
 * It reads nothing but the page's elements, and writes text only.
 */
const TIMES_SCRIPT = `"use strict";
const format = ${JSON.stringify(TIME_FORMAT)};
for (const time of document.querySelectorAll("time[datetime]")) {
  const at = Date.parse(time.dateTime);
  if (Number.isNaN(at)) continue;
  const before = time.textContent;
  time.textContent = new Intl.DateTimeFormat(time.closest("[lang]")?.lang, format).format(at);
  for (const button of time.closest("li")?.querySelectorAll("[aria-label]") ?? [])
    button.setAttribute("aria-label", button.getAttribute("aria-label").replace(before, () => time.textContent));
}
`;

/** GET {mountPath}times.js: the script of that page. */
export function timesScript(): Promise<Reply> {
  return Promise.resolve(script(TIMES_SCRIPT));
}
