import { notifyOfEnd } from "../access/notify-application.js";
import { hasSubject, type IdInfo } from "../record/identity.js";
import type { EndpointContext } from "./context.js";

/**
 * Ends the user's sessions beyond `IDP_SESSIONS_PER_USER`. Never rejects: if the store fails, the
 * next sign-in ends them.
 */
export async function endSurplusSessions(
  user: IdInfo | undefined,
  newest: string | undefined,
  context: EndpointContext,
): Promise<void> {
  const { settings, subjectSessions } = context;
  if (settings.sessionsPerUser === 0 || subjectSessions === undefined || !hasSubject(user)) return;
  if (newest === undefined) return;
  const announce = () =>
    notifyOfEnd({ reason: "too_many_sessions", iss: user.iss, sub: user.sub }, context);
  await subjectSessions
    .endSurplus(user, { most: settings.sessionsPerUser, newest, announce })
    .catch(() => undefined);
}
