/** How the provider behaves. All of it may be changed while it runs; the next request sees the change. */
export interface ProviderSettings {
  /** Default `test-client`. */
  clientId: string;
  /** Default has characters that must be percent-encoded in a Basic header (RFC 6749 section 2.3.1). */
  clientSecret: string;
  /** Redirect URIs that are accepted, compared as text; undefined (default): any. */
  redirectUris: readonly string[] | undefined;
  /** Default both. */
  tokenEndpointAuthMethods: readonly ("client_secret_post" | "client_secret_basic")[];
  /** Life of an ID token, from `iat` to `exp`; default 3600. */
  idTokenSeconds: number;
  /** Default 3600. */
  accessTokenSeconds: number;
  /** Whether a sign-in gives a refresh token: always (default), never, or when the scope `offline_access` was asked for. */
  issueRefreshToken: boolean | "offline_access";
  /** Each refresh gives a new refresh token and spends the old one; default true. Otherwise no refresh reply carries one. */
  rotation: boolean;
  /** A spent refresh token that comes back revokes its whole family; default true. Otherwise it is merely refused. */
  reuseDetection: boolean;
  /** For this long a spent refresh token may be used again; default 0. */
  reuseGraceSeconds: number;
  /** Announces and sends `iss` in authorization answers (RFC 9207); default true. */
  announceIss: boolean;
  /** Default openid, email, profile, offline_access. */
  scopesSupported: readonly string[];
  /** `ignored`: a provider that does not know PKCE. Default `required`, S256 only. */
  pkce: "required" | "ignored";
  /** `false`: the ID token says who (`sub`) and nothing else, the rest is for userinfo to tell. Default true. */
  claimsInIdToken: boolean;
}

/** Returns the settings of a provider that a test has not changed. */
export function defaultSettings(): ProviderSettings {
  return {
    clientId: "test-client",
    clientSecret: "test secret:+%/é",
    redirectUris: undefined,
    tokenEndpointAuthMethods: ["client_secret_post", "client_secret_basic"],
    idTokenSeconds: 3600,
    accessTokenSeconds: 3600,
    issueRefreshToken: true,
    rotation: true,
    reuseDetection: true,
    reuseGraceSeconds: 0,
    announceIss: true,
    scopesSupported: ["openid", "email", "profile", "offline_access"],
    pkce: "required",
    claimsInIdToken: true,
  };
}
