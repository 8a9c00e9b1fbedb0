import { randomBytes } from "node:crypto";
import { failureReason } from "../errors.js";
import { logLine } from "../events/log-lines.js";
import { queryOf, redirect, single, type Reply } from "../http/request-and-replies.js";
import type { SessionRecord } from "../record/record.js";
import type { EndpointContext } from "./context.js";
import type { SessionRequest } from "./session-request.js";
import { within } from "./patience.js";

/** Where a logout continues. */
export interface LogoutAtProvider {
  readonly url: string;
  readonly state: string;
}

/**
 * Returns the address of the logout at the provider (OpenID Connect RP-Initiated Logout 1.0). Undefined: it is off, the provider has none, or
 * the provider does not respond now. The session has ended here already, so nothing of that is an error.
 *
 * @param withHint false: a script gets the address, which must contain no token
 */
export async function logoutAtProvider(
  { origin }: SessionRequest,
  record: SessionRecord,
  withHint: boolean,
  { settings, provider, events, clock }: EndpointContext,
): Promise<LogoutAtProvider | undefined> {
  if (settings.logoutAtProvider === false || origin === undefined) return undefined;
  const state = randomBytes(16).toString("base64url");
  const request = {
    returnTo: `${origin}${settings.publicPath}logout-callback`,
    state,
    idTokenHint: withHint ? record.idp_state.id_token : undefined,
  };
  const skipped = (reason: string) => {
    events.log({ ...logLine("logout_not_at_provider"), details: { reason } });
    return undefined;
  };
  try {
    const url = await within(clock, provider.logoutUrl(request));
    return url === undefined ? skipped("end_session_endpoint") : { url, state };
  } catch (error) {
    return skipped(failureReason(error));
  }
}

/** GET {mountPath}logout-callback: the browser is back from the provider's logout. */
export function logoutCallback({ request }: SessionRequest, { settings, revocations }: EndpointContext): Promise<Reply> {
  const { value: state } = single(new URLSearchParams(queryOf(request.target)), "state");
  if (state !== undefined) revocations.back(state);
  return Promise.resolve(redirect(settings.authLogoutRedirectUrl ?? settings.publicPath));
}
