import { randomBytes } from "node:crypto";
import type { OAuthError } from "./authentication.js";
import { issuerClaims } from "./entra-tenants.js";
import type { AccessTokenClaims, Family, RequestedTarget } from "./grants.js";
import type { Confirmation } from "./sender-constraints.js";
import { compactJws } from "./signing-keys.js";
import type { ProviderState } from "./test-provider-state.js";

/** What a token response gives an access token for. */
export interface AccessRequest {
  readonly family: Family;
  /** The parameters of the token request. */
  readonly params: URLSearchParams;
  /** What a refresh asked for. */
  readonly target: RequestedTarget;
  readonly scope: string;
  /** What the token is bound to; undefined: nothing. */
  readonly cnf: Confirmation | undefined;
}

/**
 * Returns the APIs that a request names: each `resource` (RFC 8707), or the `audience` that some
 * providers take instead.
 */
export function audienceIn(params: URLSearchParams): readonly string[] {
  const resources = params.getAll("resource");
  return resources.length > 0 ? resources : params.getAll("audience");
}

/** Returns the client's mistake in `resource` (RFC 8707 section 2). */
export function targetMistake(params: URLSearchParams): OAuthError | undefined {
  const areRight = params
    .getAll("resource")
    .every((resource) => URL.canParse(resource) && !resource.includes("#"));
  return areRight
    ? undefined
    : { error: "invalid_target", description: "resource is no absolute URI, or has a fragment" };
}

/** Issues an access token for the APIs of the token request, or else those of the sign-in. */
export function issueAccessToken(request: AccessRequest, state: ProviderState): string {
  const { family, target } = request;
  const { settings, keys, grants } = state;
  const claims = claimsOf(request, state);
  // RFC 9068 section 2.1.
  const jwt =
    settings.accessTokens === "jwt"
      ? compactJws({ ...keys.header, typ: "at+jwt" }, claims, keys.privateKey)
      : undefined;
  const expiresAt = state.now() + settings.accessTokenSeconds * 1000;
  return grants.issueAccessToken({ family, target, claims, expiresAt }, jwt);
}

/** RFC 9068 section 2.2. */
function claimsOf(
  { family, params, scope, cnf }: AccessRequest,
  state: ProviderState,
): AccessTokenClaims {
  const { approval } = family;
  const { settings } = state;
  const issuer = issuerClaims(approval.person, state);
  const asked = audienceIn(params);
  const named = asked.length > 0 ? asked : approval.audience;
  const issuedAt = Math.floor(state.now() / 1000);
  return {
    ...issuer,
    ...authenticationOf(family, settings.stepUp),
    sub: approval.person["sub"],
    aud: named.length > 1 ? named : (named[0] ?? issuer["iss"]),
    client_id: settings.clientId,
    scope,
    iat: issuedAt,
    exp: issuedAt + settings.accessTokenSeconds,
    jti: randomBytes(16).toString("base64url"),
    ...(cnf !== undefined && { cnf }),
  };
}

/** The claims by which an API decides whether a step-up is needed (RFC 9470 section 6). */
function authenticationOf(
  { approval: { authTime, authentication, person } }: Family,
  support: "supported" | "ignored",
): Readonly<Record<string, unknown>> {
  const known = support === "supported" ? { auth_time: authTime, acr: authentication["acr"] } : {};
  // The user's own claims win, as in the ID token.
  return Object.fromEntries(
    ["auth_time", "acr"].flatMap((name) => {
      const value = person[name] ?? (known as Readonly<Record<string, unknown>>)[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
