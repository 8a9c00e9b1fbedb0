import {
  createLocalJWKSet,
  createRemoteJWKSet,
  decodeJwt,
  errors,
  jwtVerify,
  type JWTVerifyGetKey,
} from "jose";
import { issuerClaims } from "../provider/entra-tenants.js";
import type { JwksControls } from "../provider/signing-keys.js";
import type { ProviderSettings } from "../provider/test-provider-settings.js";
import type { MovableClock } from "../running-clock.js";

/** The provider whose access tokens an API accepts: one of `startTestProvider`, or any other. */
export interface TokenProvider {
  /** The issuer identifier, of which the discovery document is fetched. */
  readonly issuer: string;
  /** With `clientSecret`, for tokens that the provider has to look up (RFC 7662). */
  readonly clientId?: string;
  /** The secret of that client. */
  readonly clientSecret?: string;
  /** The time that tokens expire by. Default: the system's. */
  readonly clock?: Pick<MovableClock, "now">;
  /** Of a test provider: its keys, without a request. */
  readonly jwks?: Pick<JwksControls, "document">;
  /** Of a test provider: what it knows about a token, without a request. */
  introspect?(token: string): TokenClaims;
  /** Of a test provider: with a tenant, each token has the issuer of the user's own tenant. */
  readonly settings?: Pick<ProviderSettings, "tenant">;
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
  /** What a token's `aud` must be or contain. Undefined: its issuer. */
  readonly audience: string | undefined;
  /** Whether JWTs are looked up, too, so that revoked ones are invalid. */
  readonly introspection: boolean;
}

/** The members of a discovery document that a check of tokens needs (RFC 8414 section 2). */
interface Metadata {
  readonly jwks_uri?: string;
  readonly introspection_endpoint?: string;
  readonly introspection_endpoint_auth_methods_supported?: readonly string[];
  readonly token_endpoint_auth_methods_supported?: readonly string[];
}

/**
 * Returns what checks access tokens: JWTs by the provider's keys (RFC 9068 section 4), others by
 * asking the provider (RFC 7662).
 */
export function tokenCheck(
  provider: TokenProvider,
  { audience, introspection }: TokenCheckOptions,
): TokenCheck {
  const { issuer, settings = { tenant: undefined } } = provider;
  const now = (): number => provider.clock?.now() ?? Date.now();
  let metadata: Metadata | undefined;
  const discovered = async (): Promise<Metadata> =>
    // Kept only once it is there, so that the next request tries again after a failure.
    (metadata ??= (await jsonOf(
      fetch(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`),
    )) as Metadata);
  let remote: JWTVerifyGetKey | undefined;

  async function publishedKeys(): Promise<JWTVerifyGetKey> {
    const { jwks_uri = "" } = await discovered();
    return (remote ??= createRemoteJWKSet(new URL(jwks_uri)));
  }

  function keys(): Promise<JWTVerifyGetKey> | JWTVerifyGetKey {
    if (provider.jwks === undefined) return publishedKeys();
    return createLocalJWKSet({ keys: provider.jwks.document().keys.map((key) => ({ ...key })) });
  }

  const issuerOf = ({ tid }: TokenClaims): string =>
    String(issuerClaims({ tid }, { issuer, settings })["iss"]);

  async function verified(token: string): Promise<TokenClaims> {
    const expected = issuerOf(decodeJwt(token));
    const { payload } = await jwtVerify(token, await keys(), {
      issuer: expected,
      audience: audience ?? expected,
      typ: "at+jwt",
      currentDate: new Date(now()),
      requiredClaims: ["exp", "sub", "iat", "jti", "client_id"],
    });
    return payload;
  }

  async function lookedUp(token: string): Promise<TokenClaims> {
    const found =
      provider.introspect?.(token) ?? (await introspected(token, provider, await discovered()));
    if (found["active"] !== true) throw new InvalidToken("the token isn't active");
    if (![found["aud"]].flat().includes(audience ?? issuerOf(found)))
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

/** Asks a provider about a token (RFC 7662 section 2.1), with a method that it accepts. */
async function introspected(
  token: string,
  { clientId, clientSecret }: TokenProvider,
  server: Metadata,
): Promise<TokenClaims> {
  if (clientId === undefined || clientSecret === undefined)
    throw new Error("looking a token up needs the provider's `clientId` and `clientSecret`");
  const methods = server.introspection_endpoint_auth_methods_supported ??
    server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  const isBasic = methods.includes("client_secret_basic");
  const secret = { client_id: clientId, client_secret: clientSecret };
  const responding = fetch(server.introspection_endpoint ?? "", {
    method: "POST",
    body: new URLSearchParams({ token, ...(isBasic ? {} : secret) }),
    headers: isBasic ? { authorization: basic(clientId, clientSecret) } : {},
  });
  return (await jsonOf(responding)) as TokenClaims;
}

/** RFC 6749 section 2.3.1: both parts are form-urlencoded. */
function basic(clientId: string, clientSecret: string): string {
  const encoded = (part: string) => new URLSearchParams({ "": part }).toString().slice(1);
  const pair = `${encoded(clientId)}:${encoded(clientSecret)}`;
  return `Basic ${Buffer.from(pair).toString("base64")}`;
}

async function jsonOf(responding: Promise<Response>): Promise<unknown> {
  const response = await responding;
  if (!response.ok) throw new Error(`the provider responded with ${String(response.status)}`);
  return response.json();
}
