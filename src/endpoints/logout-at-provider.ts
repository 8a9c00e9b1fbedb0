import { randomBytes } from "node:crypto";
import { failureReason } from "../errors.js";
import { queryOf, redirect, single, type Reply } from "../http/request-and-replies.js";
import type { SessionRecord } from "../record/record.js";
import type { EndpointContext } from "./context.js";
import type { SessionRequest } from "./session-request.js";
import { within } from "./patience.js";

/** The reason for a provider that has no logout. */
export const NO_ENDPOINT = "end_session_endpoint";

/** The address at which a logout continues. */
export interface LogoutAtProvider {
  readonly url: string;
  readonly state: string;
}

/**
 * Returns the address of the logout at the provider (OpenID Connect RP-Initiated Logout 1.0). Undefined: the setting is off, or the
 * provider has no such address or does not respond. This is no error, because the session in the application has already ended.
 *
 * @param skipped gets the reason if the setting is on but there is no address: `end_session_endpoint`, or the reason of an outage
 * @param withHint false for a JSON response: a script reads the address, so the address must not contain a token
 */
export async function logoutAtProvider(
  { origin }: SessionRequest,
  record: SessionRecord,
  withHint: boolean,
  { settings, provider, clock }: EndpointContext,
  skipped: (reason: string) => void,
): Promise<LogoutAtProvider | undefined> {
  if (settings.logoutAtProvider === false || origin === undefined) return undefined;
  const state = randomBytes(16).toString("base64url");
  const request = {
    returnTo: `${origin}${settings.publicPath}logout-callback`,
    state,
    idTokenHint: withHint ? record.idp_state.id_token : undefined,
  };
  try {
    const url = await within(clock, provider.logoutUrl(request));
    if (url !== undefined) return { url, state };
    skipped(NO_ENDPOINT);
  } catch (error) {
    skipped(failureReason(error));
  }
  return undefined;
}

/** GET {mountPath}logout-callback: the browser comes back from the provider's logout. */
export function logoutCallback({ request }: SessionRequest, { settings, revocations }: EndpointContext): Promise<Reply> {
  const { value: state } = single(new URLSearchParams(queryOf(request.target)), "state");
  if (state !== undefined) revocations.back(state);
  return Promise.resolve(redirect(settings.authLogoutRedirectUrl ?? settings.publicPath));
}
