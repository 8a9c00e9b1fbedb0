/** Tokens: as a session stores them, and as a sign-in and a refresh receive them. */
import type { EpochSeconds } from "../clock.js";
import type { DpopBinding } from "./dpop.js";
import type { IdInfo } from "./identity.js";

/** The provider's credentials as the session stores them. The specification fixes the six names. */
export interface Credentials {
  /** The access token (RFC 6749 section 1.4). */
  readonly token: string;
  /** The refresh token. The key is absent if the provider gave none or refused the last one. */
  readonly refresh_token?: string;
  /** The token endpoint that issued them. */
  readonly token_uri: string;
  /** The setting `clientId`. A session of another client doesn't count. */
  readonly client_id: string;
  /** The setting `clientSecret`. It must not reach a browser. */
  readonly client_secret: string;
  /** The scopes that the provider named; if it named none, the requested scopes. */
  readonly scopes: readonly string[];
  /**
   * The access token is bound to the session's key (RFC 9449), so an API accepts it only with a
   * proof. Absent: it is a bearer token.
   */
  readonly token_type?: "DPoP";
}

/** The fields of a token response, under the names that provider libraries use. */
export interface ProviderCredentials {
  /** The access token. */
  readonly token: string;
  /** Absent, null or empty: the session stores none. */
  readonly refreshToken?: string | null | undefined;
  /** The URL of the token endpoint. */
  readonly tokenUri: string;
  /** The client that the tokens were issued to. */
  readonly clientId: string;
  /** Stored with the tokens. */
  readonly clientSecret: string;
  /** Granted or requested scopes, in any order. */
  readonly scopes: readonly string[];
}

/** Serialises provider credentials into the six-field object that the session stores. */
export function credentialsToDict(credentials: ProviderCredentials): Credentials {
  return {
    token: credentials.token,
    ...(credentials.refreshToken ? { refresh_token: credentials.refreshToken } : {}),
    token_uri: credentials.tokenUri,
    client_id: credentials.clientId,
    client_secret: credentials.clientSecret,
    scopes: [...credentials.scopes],
  };
}

/** A frozen copy with an ordinary prototype. Some frameworks refuse an object without one. */
export function frozenCredentials(credentials: Credentials): Credentials {
  return Object.freeze({ ...credentials, scopes: Object.freeze([...credentials.scopes]) });
}

/** Who the user is: after a sign-in, and after a refresh. */
export interface Identity {
  readonly idInfo: IdInfo;
  /** The algorithm of the ID token's signature. Absent: a refresh response had no ID token. */
  readonly idTokenAlg?: string;
  /** The names of the claims in `idInfo` that came from the userinfo endpoint. */
  readonly userinfoClaims: readonly string[];
  /**
   * The userinfo response's claims as parsed. Absent if this sign-in or refresh did not call
   * userinfo, or could not use its response.
   */
  readonly userinfo?: IdInfo;
}

/** Tokens of a finished sign-in whose ID token has been verified. */
export interface SignIn extends Identity {
  /** The key of the provider, if a source gave it. */
  readonly sourceKey?: string | undefined;
  readonly credentials: Credentials;
  /** The verified ID token itself. */
  readonly idToken: string;
  readonly receivedAt: EpochSeconds;
  readonly accessTokenExpiresAt: EpochSeconds | undefined;
  /** What the request was proven with. Undefined: with nothing. */
  readonly dpop?: DpopBinding | undefined;
}

/**
 * The response to a refresh request, before it is verified. The old refresh token is spent now. So
 * if `refreshToken` is present, the caller stores it before it does anything else.
 */
export interface SpentRefresh extends Pick<SignIn, "receivedAt" | "accessTokenExpiresAt" | "dpop"> {
  readonly accessToken: string | undefined;
  /** The access token is bound to the key. Absent: it is a bearer token. */
  readonly tokenType?: "DPoP" | undefined;
  /** An access token came that is of another type than asked for. */
  readonly isOtherType?: boolean;
  readonly refreshToken: string | undefined;
  readonly idToken: string | undefined;
  readonly scopes: readonly string[] | undefined;
  /**
   * What the provider says that the access token is for (`resource`). Undefined: it does not say.
   */
  readonly resources?: readonly string[] | undefined;
}
