import { notifyOfEnd } from "../access/notify-application.js";
import { hasSubject, type IdInfo } from "../record/identity.js";
import { withoutUndefined } from "../record/without-undefined.js";
import type { EndpointContext } from "./context.js";

/** The user of a sign-in. */
interface SignedInUser {
  readonly claims: IdInfo | undefined;
  /** The key of the provider, if it has one. */
  readonly provider: string | undefined;
}

/**
 * Ends the user's sessions beyond `IDP_SESSIONS_PER_USER`. Never rejects: if the store fails, the
 * next sign-in ends them.
 */
export async function endSurplusSessions(
  { claims, provider }: SignedInUser,
  newest: string | undefined,
  context: EndpointContext,
): Promise<void> {
  const { settings, subjectSessions } = context;
  if (settings.sessionsPerUser === 0 || subjectSessions === undefined || !hasSubject(claims))
    return;
  if (newest === undefined) return;
  const subject = { iss: claims.iss, sub: claims.sub, ...withoutUndefined({ provider }) };
  const announce = () => notifyOfEnd({ reason: "too_many_sessions", ...subject }, context);
  await subjectSessions
    .endSurplus(subject, { most: settings.sessionsPerUser, newest, announce })
    .catch(() => undefined);
}
