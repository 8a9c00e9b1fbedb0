/**
 * The name of the method that signs a user in without a provider, for tests. `signedInAs` of
 * `idpauth/testing` calls it. It is a symbol, so that no application calls it by accident, and
 * registered, so that several copies of this package share it.
 */
export const SESSION_FOR_TESTS: unique symbol = Symbol.for("idpauth.session-for-tests");

/** The user to sign in, and the tokens. */
export interface SessionForTests<Provider extends string = string> {
  /** With several providers, the key of the one that the user signed in at. Default: the first. */
  readonly provider?: Provider;
  /**
   * Claims of the ID token. Defaults: `iss` (and `tid`, with several tenants), `aud` and `azp` from
   * the settings, a new `sub`, `iat` now, `exp` in an hour.
   */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** The tokens in the session. */
  readonly tokens?: {
    /** The access token. Default: a random one. */
    readonly token?: string;
    /** Default: none, so that the session ends with its ID token. */
    readonly refresh_token?: string;
  };
  /** The application's own data: JSON. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** Seconds since the epoch. Default: now. */
  readonly signedInAt?: number;
  /**
   * The claim `auth_time`: when the user authenticated at the provider, in seconds since the epoch.
   * Default: no such claim.
   */
  readonly authTime?: number;
  /** The claim `acr`: how the user authenticated. Default: no such claim. */
  readonly acr?: string;
  /**
   * Whether the browser uses https; the cookie's name and attributes depend on it. Default: the
   * scheme of BASE_URL, else false.
   */
  readonly secure?: boolean;
}
