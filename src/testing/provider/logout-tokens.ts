import { randomBytes, type KeyObject } from "node:crypto";
import { isLoopback } from "../loopback-hostname.js";
import { issuerClaims } from "./entra-tenants.js";
import { withSubject } from "./people.js";
import type { ProviderSession } from "./provider-sessions.js";
import { compactJws } from "./signing-keys.js";
import type { ProviderState } from "./test-provider-state.js";

/**
 * The member of `events` that makes a token a logout token (OpenID Connect Back-Channel Logout 1.0
 * section 2.4).
 */
const LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout";

/**
 * The content of a logout token. Without `sub` and `sid`, it names the session of
 * `provider.person`.
 */
export interface LogoutTokenOptions {
  /** The user. Without `sid`, it means all of the user's sessions. */
  readonly sub?: string;
  /** One session at the provider. */
  readonly sid?: string;
  /** Epoch seconds; default the provider's time. */
  readonly iat?: number;
  /** Epoch seconds; default two minutes after `iat`, the maximum that section 4 recommends. */
  readonly exp?: number;
  /** Claims that are added or replaced; a claim with the value undefined is removed. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /**
   * Header members that are added or replaced; a member with the value undefined is removed. The
   * algorithm `none` gives an empty signature.
   */
  readonly header?: Readonly<Record<string, unknown>>;
  /**
   * Default the provider's private key; bytes for HS256, another private key for a forged
   * signature.
   */
  readonly key?: KeyObject | Uint8Array;
}

/** The application's response to a logout token. */
export interface LogoutResponse {
  /** 200: the sessions have ended. 400: they have not (section 2.8). */
  readonly status: number;
  /** As `fetch` returns them. */
  readonly headers: Headers;
  /** JSON with `error` if the status is 400. */
  readonly body: string;
}

const LIFE_SECONDS = 120;

/** Returns a signed logout token (OpenID Connect Back-Channel Logout 1.0 section 2.4). */
export function logoutToken(options: LogoutTokenOptions, state: ProviderState): string {
  const { keys, settings, grants } = state;
  const iat = options.iat ?? Math.floor(state.now() / 1000);
  const claims = {
    iss: issuerOf(options.sub, state),
    aud: settings.clientId,
    iat,
    exp: options.exp ?? iat + LIFE_SECONDS,
    jti: randomBytes(16).toString("base64url"),
    events: { [LOGOUT_EVENT]: {} },
    ...namedSession(options, state),
    ...options.claims,
  };
  const header = { ...keys.header, typ: "logout+jwt", ...options.header };
  return grants.note("logout_token", compactJws(header, claims, options.key ?? keys.privateKey));
}

function namedSession(
  { sub, sid }: LogoutTokenOptions,
  state: ProviderState,
): Partial<ProviderSession> {
  if (sub !== undefined || sid !== undefined)
    return { ...(sub !== undefined && { sub }), ...(sid !== undefined && { sid }) };
  const user = String(withSubject(state.person)["sub"]);
  const session = state.sessions.find(user).at(-1);
  return session === undefined || state.settings.sid === "ignored" ? { sub: user } : session;
}

/** Returns the issuer for a user: with several tenants, that of the user's tenant. */
function issuerOf(sub: string | undefined, state: ProviderState): unknown {
  const person = state.people.find((one) => withSubject(one)["sub"] === sub) ?? state.person;
  return issuerClaims(person, state)["iss"];
}

/** Real milliseconds for the application's response. */
const RESPONSE_MS = 10_000;

/**
 * Posts a logout token to `backchannelLogoutUri` (section 2.5).
 *
 * @throws Error the setting is missing or names another machine, or the application does not
 *   respond
 */
export async function postLogoutToken(
  token: string,
  { settings }: ProviderState,
): Promise<LogoutResponse> {
  const { backchannelLogoutUri: uri } = settings;
  if (uri === undefined)
    throw new Error(
      "Set `provider.settings.backchannelLogoutUri` to the application's back-channel logout address.",
    );
  // A test must not send tokens to another machine.
  if (!isLoopback(new URL(uri).hostname))
    throw new Error(`\`backchannelLogoutUri\` is ${uri}, which isn't on this machine.`);
  const response = await fetch(uri, {
    method: "POST",
    redirect: "manual",
    body: new URLSearchParams({ logout_token: token }),
    signal: AbortSignal.timeout(RESPONSE_MS),
  });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

/**
 * Ends sessions at the provider, with their refresh tokens. A sign-in with the scope
 * `offline_access` keeps its refresh token (OpenID Connect Core section 11). Then sends a logout
 * token for each session, if the application has a back-channel logout address.
 */
export async function endSessions(
  ended: readonly ProviderSession[],
  state: ProviderState,
): Promise<LogoutResponse[]> {
  for (const session of ended) {
    state.sessions.end(session);
    state.grants.endSession(session.sid);
  }
  if (state.settings.backchannelLogoutUri === undefined) return [];
  return Promise.all(
    ended.map(({ sub, sid }) =>
      postLogoutToken(logoutToken(withSid({ sub, sid }, state), state), state),
    ),
  );
}

function withSid({ sub, sid }: ProviderSession, { settings }: ProviderState): LogoutTokenOptions {
  return settings.sid === "ignored" ? { sub } : { sub, sid };
}
