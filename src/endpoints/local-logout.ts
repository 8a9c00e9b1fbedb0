import { identityOf } from "../events/events.js";
import type { Credentials } from "../record/credentials.js";
import type { SessionRecord } from "../record/record.js";
import type { EndpointContext } from "./context.js";
import type { SessionRequest } from "./session-request.js";

export type SignedInRecord = SessionRecord & { readonly credentials: Credentials };

/** Ends the session of a request. @returns its record, if a user was signed in */
export async function endOwnSession(
  { session }: SessionRequest,
  { tasks, application }: EndpointContext,
): Promise<SignedInRecord | undefined> {
  const record = await session.destroy();
  if (record?.credentials === undefined) return undefined;
  tasks.add(application.signedOut("logout", record));
  return record as SignedInRecord;
}

/** Revokes the token of an ended session and then emits the logout event, with the result. */
export async function revokeEnded(record: SignedInRecord, context: EndpointContext): Promise<void> {
  const { clock, events } = context;
  const started = clock.monotonic();
  const isRevoked = await revoke(record, context);
  const duration = isRevoked === null ? undefined : clock.monotonic() - started;
  // With a lease, a refresh was running: the provider may have issued newer tokens than the record's.
  const revoked = isRevoked === null ? null : isRevoked && record.idp_state.lease === undefined;
  events.emit("logout", { ...identityOf(record.id_info), revoked, ...(duration !== undefined && { duration }) });
}

/** Revokes the refresh token if there is one: the provider then also revokes its access tokens (RFC 7009). Null: revocation is off. */
async function revoke({ credentials, idp_state: state }: SignedInRecord, { settings, provider }: EndpointContext): Promise<boolean | null> {
  if (!settings.tokenRevokeOnLogout) return null;
  // A dropped token is the newest one, and it is still valid.
  const refreshToken = state.dropped_token ?? credentials.refresh_token;
  return refreshToken === undefined ? provider.revoke(credentials.token, "access_token") : provider.revoke(refreshToken, "refresh_token");
}
