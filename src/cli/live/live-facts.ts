import type { Settings } from "../../config/read-settings.js";
import { cookieNameFor } from "../../sessions/cookie.js";

/** What the live check has learned beside its findings. Null: it could not be learned, or was not asked for. */
export interface LiveFacts {
  /** As it will be sent: to be compared with the registration, to the letter. */
  redirectUri: string | null;
  /** Null also where the provider's answer tells neither. */
  redirectUriRegistered: boolean | null;
  cookie: CookieFacts | null;
  /** As the discovery document names it. */
  issuer: string | null;
  endpoints: EndpointFacts | null;
  /** Seconds by which the provider's clock is ahead of this machine's; negative: behind. 0: no difference to be seen. */
  clockOffset: number | null;
  /** S256 is announced (RFC 7636). */
  pkce: boolean | null;
  /** `iss` in authorization answers is announced (RFC 9207): a mix-up of two providers would be noticed. */
  iss: boolean | null;
  /** `uncertain`: the discovery document does not promise one. `not allowed`: the token endpoint does not let this client refresh. */
  refreshToken: "expected" | "uncertain" | "not allowed" | "not wanted" | null;
  /** `not known`: the token endpoint refuses a client that does not exist in the same way. */
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
}

export interface StoreFacts {
  /** The store's own short name. */
  readonly name: string;
  /** Milliseconds of one read, the median of several; null: it was not read. */
  readonly roundTripMs: number | null;
}

export function noFacts(): LiveFacts {
  return {
    redirectUri: null,
    redirectUriRegistered: null,
    cookie: null,
    issuer: null,
    endpoints: null,
    clockOffset: null,
    pkce: null,
    iss: null,
    refreshToken: null,
    client: null,
    store: null,
  };
}

/** The cookie of bundled sessions; null if BASE_URL is unset, since each request's scheme decides then. Pure. */
export function cookieFact({ baseUrl, cookieName, publicPath }: Settings): CookieFacts | null {
  if (baseUrl === null) return null;
  const secure = baseUrl.startsWith("https:");
  return { name: cookieNameFor(cookieName, publicPath, secure), path: "/", httpOnly: true, sameSite: "Lax", secure };
}
