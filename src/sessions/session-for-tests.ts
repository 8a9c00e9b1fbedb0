import { randomUUID } from "node:crypto";
import { credentialsToDict } from "../record/credentials.js";
import { RECORD_VERSION, type ClientIdentity, type SessionRecord } from "../record/record.js";
import { epochSeconds, type Clock } from "../clock.js";
import type { BundledSessions } from "./bundled-sessions.js";

/**
 * The name of the method by which a test signs somebody in without a provider; `signedInAs` of `idpauth/testing` uses it.
 * A symbol, so that nobody calls it by accident, and a registered one, so that copies of this package know each other's.
 */
export const SESSION_FOR_TESTS: unique symbol = Symbol.for("idpauth.session-for-tests");

/** Who is signed in, and with what. */
export interface SessionForTests {
  /** Claims of the ID token. Those left out: `iss`, `aud` and `azp` of the settings, a `sub` of its own, `iat` now, `exp` in an hour. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Default: an access token that no provider knows, and no refresh token, so that the session ends with its ID token. */
  readonly tokens?: { readonly token?: string; readonly refresh_token?: string };
  /** Seconds since the epoch; default now. */
  readonly loginAt?: number;
  /** Whether the visitor comes over https, which names and marks the cookie. Default: as BASE_URL says, else no. */
  readonly secure?: boolean;
}

export interface SessionForTestsParts {
  readonly sessions: BundledSessions;
  readonly client: ClientIdentity;
  readonly clientSecret: string;
  readonly scope: readonly string[];
  readonly baseUrl: string | null;
  readonly stampsActivity: boolean;
  readonly clock: Clock;
}

/** Stores a signed-in session. @returns the Set-Cookie values that a browser would have got */
export async function createSessionForTests(asked: SessionForTests, parts: SessionForTestsParts): Promise<readonly string[]> {
  const { sessions, client, scope, baseUrl, stampsActivity, clock } = parts;
  const now = epochSeconds(clock);
  const { claims, tokens = {}, loginAt = now, secure = baseUrl?.startsWith("https:") === true } = asked;
  const record: SessionRecord = {
    credentials: credentialsToDict({
      token: tokens.token ?? `access-token-for-tests-${randomUUID()}`,
      refreshToken: tokens.refresh_token,
      tokenUri: `${client.issuer.replace(/\/$/, "")}/token`,
      clientId: client.clientId,
      clientSecret: parts.clientSecret,
      scopes: [...scope],
    }),
    id_info: {
      iss: client.issuer,
      aud: client.clientId,
      azp: client.clientId,
      sub: `test-${randomUUID()}`,
      iat: now,
      exp: now + 3600,
      ...claims,
    },
    idp_login_at: loginAt,
    ...(stampsActivity && { idp_last_active: now }),
    idp_state: { v: RECORD_VERSION, issuer: client.issuer },
  };
  const session = sessions.open(undefined, secure);
  await session.begin(() => record);
  return session.setCookies;
}
