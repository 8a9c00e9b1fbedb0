import {
  createLocalJWKSet,
  createRemoteJWKSet,
  errors,
  jwtVerify,
  type JWTVerifyGetKey,
} from "jose";

/** The provider whose access tokens an API accepts: one of `startTestProvider`, or any other. */
export interface TokenProvider {
  readonly issuer: string;
  /** With `clientSecret`, for tokens that the provider has to look up (RFC 7662). */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** The time that tokens expire by. Default: the system's. */
  readonly clock?: { now(): number };
  /** Of a test provider: its keys, without a request. */
  readonly jwks?: { document(): { readonly keys: readonly object[] } };
}

/** The claims of an access token, or the members of an introspection response. */
export type TokenClaims = Readonly<Record<string, unknown>>;

/** What an API finds when it checks a token. `reason` contains no part of the token. */
export type CheckedToken =
  | { readonly kind: "valid"; readonly claims: TokenClaims }
  | { readonly kind: "invalid"; readonly reason: string };

/** Checks one access token. @throws Error the provider doesn't respond */
export type TokenCheck = (token: string) => Promise<CheckedToken>;

export interface TokenCheckOptions {
  /** What a token's `aud` must be or contain. */
  readonly audience: string;
  /** Whether JWTs are looked up, too, so that revoked ones are invalid. */
  readonly introspection: boolean;
}

interface Metadata {
  readonly jwks_uri?: string;
  readonly introspection_endpoint?: string;
}

/**
 * Returns what checks access tokens: JWTs by the provider's keys (RFC 9068 section 4), others by
 * asking the provider (RFC 7662).
 */
export function tokenCheck(
  provider: TokenProvider,
  { audience, introspection }: TokenCheckOptions,
): TokenCheck {
  const { issuer } = provider;
  const now = (): number => provider.clock?.now() ?? Date.now();
  let metadata: Promise<Metadata> | undefined;
  const discovered = (): Promise<Metadata> =>
    (metadata ??= jsonOf(
      fetch(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`),
    ) as Promise<Metadata>);
  let remote: JWTVerifyGetKey | undefined;

  async function keys(): Promise<JWTVerifyGetKey> {
    if (provider.jwks !== undefined)
      return createLocalJWKSet({ keys: provider.jwks.document().keys.map((key) => ({ ...key })) });
    const { jwks_uri = "" } = await discovered();
    return (remote ??= createRemoteJWKSet(new URL(jwks_uri)));
  }

  async function verified(token: string): Promise<TokenClaims> {
    const { payload } = await jwtVerify(token, await keys(), {
      issuer,
      audience,
      typ: "at+jwt",
      currentDate: new Date(now()),
      requiredClaims: ["exp", "sub", "iat", "jti", "client_id"],
    });
    return payload;
  }

  async function lookedUp(token: string): Promise<TokenClaims> {
    const { introspection_endpoint } = await discovered();
    const { clientId = "", clientSecret = "" } = provider;
    const found = (await jsonOf(
      fetch(introspection_endpoint ?? issuer, {
        method: "POST",
        body: new URLSearchParams({ token, client_id: clientId, client_secret: clientSecret }),
      }),
    )) as TokenClaims;
    if (found["active"] !== true) throw new InvalidToken("the token isn't active");
    if (![found["aud"]].flat().includes(audience))
      throw new InvalidToken('unexpected "aud" claim value');
    return found;
  }

  return async (token) => {
    const isJwt = token.split(".").length === 3;
    try {
      const claims = isJwt ? await verified(token) : undefined;
      const kept = claims === undefined || introspection ? await lookedUp(token) : claims;
      return { kind: "valid", claims: kept };
    } catch (error) {
      // If the provider isn't there, nothing is known about the token.
      if (!(error instanceof InvalidToken || error instanceof errors.JOSEError)) throw error;
      return { kind: "invalid", reason: error.message };
    }
  };
}

class InvalidToken extends Error {}

async function jsonOf(responding: Promise<Response>): Promise<unknown> {
  const response = await responding;
  if (!response.ok) throw new Error(`the provider responded with ${String(response.status)}`);
  return response.json();
}
