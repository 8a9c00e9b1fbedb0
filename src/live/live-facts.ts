import type { Settings } from "../config/read-settings.js";
import { cookieNameFor } from "../sessions/cookie.js";

/** The facts in the report of the live check. Null: unknown, or not checked. */
export interface LiveFacts {
  /** The provider's key. Absent: the application has one provider, without a key. */
  key?: string;
  /** The redirect URI that a login sends. The registration must be exactly equal. */
  redirectUri: string | null;
  /** Null also if the provider's response is inconclusive. */
  redirectUriRegistered: boolean | null;
  cookie: CookieFacts | null;
  /** The issuer in the discovery document. */
  issuer: string | null;
  endpoints: EndpointFacts | null;
  logout: LogoutFacts | null;
  /**
   * Seconds by which the provider's clock is ahead of this machine's clock; negative: behind. 0: no
   * visible difference.
   */
  clockOffset: number | null;
  /** Whether S256 is announced (RFC 7636). */
  pkce: boolean | null;
  /**
   * Whether `iss` in authorization responses is announced (RFC 9207). It detects a mix-up of two
   * providers.
   */
  iss: boolean | null;
  /** Whether the application pushes authorization requests (RFC 9126). */
  requests: "pushed" | "plain" | null;
  /** What the document says of bound tokens and of signed requests and responses. */
  assurance: readonly string[] | null;
  /**
   * The parameters of a login that has none of its own, with those of the APIs without
   * `consent: "later"`. `prompt`: empty if none is sent. `resource`: absent if none is.
   */
  login: { readonly scope: string; readonly prompt: string; readonly resource?: string } | null;
  /**
   * `uncertain`: the discovery document does not announce one. `not allowed`: the token endpoint
   * does not allow this client to refresh.
   */
  refreshToken: "expected" | "uncertain" | "not allowed" | "not wanted" | null;
  /** `not known`: the token endpoint gives the same response for a client that does not exist. */
  client: "accepted" | "refused" | "not known" | null;
  store: StoreFacts | null;
}

export interface CookieFacts {
  readonly name: string;
  readonly path: "/";
  readonly httpOnly: true;
  readonly sameSite: "Lax";
  readonly secure: boolean;
}

/** Null: missing, or not usable. */
export interface EndpointFacts {
  readonly authorization: string | null;
  readonly token: string | null;
  readonly jwks: string | null;
  readonly userinfo: string | null;
  readonly revocation: string | null;
  readonly endSession: string | null;
}

/**
 * The logouts that the provider announces. `…Sid`: it also announces that it sends `sid`, which
 * names the session.
 */
export interface LogoutFacts {
  readonly backchannel: boolean;
  readonly backchannelSid: boolean;
  readonly frontchannel: boolean;
  readonly frontchannelSid: boolean;
}

export interface StoreFacts {
  /** The store's short name. */
  readonly name: string;
  /** Milliseconds of one read, the median of several; null: not read. */
  readonly roundTripMs: number | null;
}

export function noFacts(): LiveFacts {
  return {
    redirectUri: null,
    redirectUriRegistered: null,
    cookie: null,
    issuer: null,
    endpoints: null,
    logout: null,
    clockOffset: null,
    pkce: null,
    iss: null,
    requests: null,
    assurance: null,
    login: null,
    refreshToken: null,
    client: null,
    store: null,
  };
}

/**
 * The cookie of bundled sessions; null if BASE_URL isn't one origin, since each request's scheme
 * decides then. Pure.
 */
export function cookieFact({ baseUrl, cookieName, publicPath }: Settings): CookieFacts | null {
  if (typeof baseUrl !== "string") return null;
  const secure = baseUrl.startsWith("https:");
  return {
    name: cookieNameFor(cookieName, publicPath, secure),
    path: "/",
    httpOnly: true,
    sameSite: "Lax",
    secure,
  };
}
