import { randomBytes } from "node:crypto";
import type { OwnedSession } from "../access/session-access.js";
import type { SessionRequest } from "../access/session-request.js";
import { ownLogoutAddress } from "../config/provider-profiles.js";
import { reasonLine } from "../events/log-lines.js";
import { redirect, type Reply } from "../http/reply.js";
import { queryOf, single } from "../http/request.js";
import type { EndpointContext, EndpointRegistration } from "./context.js";
import { withPatience } from "./logout-patience.js";
import { isByOtherSite } from "./other-site-logout.js";

/** A session that the user has just ended. */
export type EndedSession = OwnedSession<EndpointRegistration>;

export interface LogoutOfSession {
  readonly ended: EndedSession;
  /**
   * False for a JSON response: a script reads the address, so the address must not contain a token.
   */
  readonly withHint: boolean;
}

/** The address at which a logout continues. */
export interface LogoutAtProvider {
  readonly url: string;
  readonly state: string;
}

/**
 * Returns the address of the logout at the provider (OpenID Connect RP-Initiated Logout 1.0).
 * Undefined: the provider has no such address, or another site may have sent the request.
 *
 * With an `id_token_hint` the provider signs out without a question, so only requests of the
 * application's own pages and of the user get one. A page on another site could send all other
 * requests.
 */
export async function logoutAtProvider(
  { request, origin }: SessionRequest,
  { settings, clock, events }: EndpointContext,
  { ended, withHint }: LogoutOfSession,
): Promise<LogoutAtProvider | undefined> {
  const {
    record,
    owner: { registration },
  } = ended;
  if (registration === undefined || origin === undefined) return undefined;
  const site = request.header("sec-fetch-site");
  const isOther = isByOtherSite(request);
  const isOwn = !isOther && (site === "same-origin" || site === "none");
  if (isOther || (!isOwn && ownLogoutAddress(registration.settings) !== undefined)) {
    events.log(
      reasonLine("logout_not_at_provider", isOther ? "cross_site" : "not_same_origin"),
      registration.key,
    );
    return undefined;
  }
  const state = randomBytes(16).toString("base64url");
  const parameters = {
    returnTo: `${origin}${settings.publicPath}logout-callback`,
    state,
    hints:
      withHint && isOwn
        ? { idToken: record.idp_state.id_token, claims: record.id_info ?? {} }
        : undefined,
  };
  const url = await withPatience(clock, registration.provider.logoutUrl(parameters));
  if (url !== undefined) return { url, state };
  // A provider without this endpoint has none for the next user, either.
  events.logOnce(reasonLine("logout_not_at_provider", "end_session_endpoint"), registration.key);
  return undefined;
}

/** GET {mountPath}logout-callback: the browser comes back from the provider's logout. */
export function logoutCallback(
  { request }: SessionRequest,
  { settings, revocations }: EndpointContext,
): Promise<Reply> {
  const { value: state } = single(new URLSearchParams(queryOf(request.target)), "state");
  if (state !== undefined) revocations.back(state);
  return Promise.resolve(redirect(settings.authLogoutRedirectUrl ?? settings.publicPath));
}
