import { announcedIssuer, issuerClaims } from "./entra-tenants.js";
import { endSessions } from "./logout-tokens.js";
import { hintedPerson, withSubject } from "./people.js";
import { refusedLogoutPage, signedOutPage } from "./provider-pages.js";
import type { ProviderSession } from "./provider-sessions.js";
import type { ReceivedRequest } from "./received-requests.js";
import { htmlReply, redirectReply, type ProviderReply } from "./replies.js";
import type { ProviderState } from "./test-provider-state.js";

/** A logout request (OpenID Connect RP-Initiated Logout 1.0 section 2). */
export interface LogoutRequest {
  /** The claims of `id_token_hint`; undefined if there is none. */
  readonly hint: Readonly<Record<string, unknown>> | undefined;
  /** `logout_hint`, a `sub` or an email address. */
  readonly user: string | null;
  /** `post_logout_redirect_uri` with `state`; undefined if the request has none. */
  readonly returnTo: string | undefined;
}

/**
 * Reads a logout request. `mistake`: the client's mistake; the response then shows an error and
 * never redirects.
 */
export function readLogout(
  request: ReceivedRequest,
  state: ProviderState,
): LogoutRequest | { readonly mistake: string } {
  const { settings } = state;
  const params = request.method === "POST" ? request.params : request.query;
  const [idToken, clientId, uri, sent] = [
    "id_token_hint",
    "client_id",
    "post_logout_redirect_uri",
    "state",
  ].map((name) => params.get(name));
  const hint = typeof idToken === "string" ? hintClaims(idToken, state) : undefined;
  if (hint !== undefined && "mistake" in hint) return hint;
  if (typeof clientId === "string" && clientId !== settings.clientId)
    return { mistake: "client_id names another client" };
  const user = params.get("logout_hint");
  if (typeof uri !== "string") return { hint: hint?.claims, user, returnTo: undefined };
  // The provider must know the client before it redirects (section 3).
  if (hint === undefined && typeof clientId !== "string")
    return { mistake: "post_logout_redirect_uri needs id_token_hint or client_id" };
  if (!URL.canParse(uri) || settings.postLogoutRedirectUris?.includes(uri) === false)
    return { mistake: "post_logout_redirect_uri is not registered" };
  const returnTo = new URL(uri);
  if (typeof sent === "string") returnTo.searchParams.append("state", sent);
  return { hint: hint?.claims, user, returnTo: returnTo.href };
}

/**
 * Returns the claims of an ID token of this provider for this client. An expired one is accepted
 * (section 2).
 */
function hintClaims(
  token: string,
  state: ProviderState,
): { readonly claims: Readonly<Record<string, unknown>> } | { readonly mistake: string } {
  const isIssued = state.grants.issued.some(
    ({ kind, value }) => kind === "id_token" && value === token,
  );
  if (!isIssued && !state.keys.hasSigned(token))
    return { mistake: "id_token_hint has a wrong signature" };
  const claims = claimsIn(token);
  if (claims === undefined) return { mistake: "id_token_hint is not an ID token" };
  const audiences = [claims["aud"]].flat();
  if (!audiences.includes(state.settings.clientId))
    return { mistake: "id_token_hint belongs to another client" };
  if (!isIssued && claims["iss"] !== issuerClaims({ tid: claims["tid"] }, state)["iss"])
    return { mistake: "id_token_hint has another issuer" };
  return { claims };
}

function claimsIn(token: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const claims: unknown = JSON.parse(
      Buffer.from(token.split(".")[1] ?? "", "base64url").toString(),
    );
    return typeof claims === "object" && claims !== null
      ? (claims as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the sessions that a logout request ends: the hint's session, else all sessions of the
 * user that the request names.
 */
export function sessionsToEnd(
  { hint, user }: LogoutRequest,
  state: ProviderState,
): ProviderSession[] {
  const { sid, sub } = hint ?? {};
  if (typeof sid === "string") return state.sessions.find(sid);
  const named = sub ?? hintedPerson(state.people, user)?.["sub"] ?? user;
  return typeof named === "string" ? state.sessions.find(named) : [];
}

/**
 * OpenID Connect RP-Initiated Logout 1.0 section 2. Without a hint, the user is `provider.person`.
 */
export async function endSession(
  request: ReceivedRequest,
  state: ProviderState,
): Promise<ProviderReply> {
  const asked = readLogout(request, state);
  if ("mistake" in asked) {
    state.noteViolation(`${request.method} endSession: ${asked.mistake}`);
    return htmlReply(400, refusedLogoutPage(asked.mistake));
  }
  const user = asked.user ?? String(withSubject(state.person)["sub"]);
  const ended = sessionsToEnd({ ...asked, user }, state);
  // The user continues, even if the application does not respond (OpenID Connect Back-Channel
  // Logout 1.0 section 2.5).
  await endSessions(ended, state).catch(() => undefined);
  const frames = frontchannelAddresses(ended, state);
  if (frames.length === 0 && asked.returnTo !== undefined) return redirectReply(asked.returnTo);
  return htmlReply(200, signedOutPage(frames, asked.returnTo));
}

/** Returns the addresses to load in frames (OpenID Connect Front-Channel Logout 1.0 section 2). */
function frontchannelAddresses(ended: readonly ProviderSession[], state: ProviderState): string[] {
  const { frontchannelLogoutUri, frontchannelLogoutParams, sid: sids } = state.settings;
  if (frontchannelLogoutUri === undefined) return [];
  return ended.map(({ sid }) => {
    const address = new URL(frontchannelLogoutUri);
    if (frontchannelLogoutParams.includes("iss"))
      address.searchParams.append("iss", announcedIssuer(state));
    if (frontchannelLogoutParams.includes("sid") && sids === "supported")
      address.searchParams.append("sid", sid);
    return address.href;
  });
}
