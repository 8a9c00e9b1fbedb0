import { createHash, type KeyObject } from "node:crypto";
import { errorReply, jsonReply, redirectReply, type ProviderReply } from "./replies.js";
import type { Family, Grants } from "./grants.js";
import { hintedPerson, withSubject, type PersonClaims } from "./people.js";
import { isForm, type Endpoint, type ReceivedRequest } from "./received-requests.js";
import { compactJws, type JsonPart, type SigningKeys } from "./signing-keys.js";

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

/** An ID token about to be signed. */
export interface IdTokenDraft {
  readonly header: Record<string, unknown>;
  readonly claims: Record<string, unknown>;
  readonly grant: "authorization_code" | "refresh_token";
  /** The provider's current key, as private key and as what the JWKS endpoint publishes. */
  readonly privateKey: KeyObject;
  readonly publicKeyPem: string;
  readonly publicJwk: Readonly<Record<string, unknown>>;
  /**
   * Makes the compact form with whatever algorithm the header names, judging nothing. `none` gives an empty signature.
   * Header and claims as text stand for themselves, byte for byte.
   *
   * @param key default the current private key; bytes for HS256, another private key for a forged or foreign signature
   */
  sign(header: JsonPart, claims: JsonPart, key?: KeyObject | Uint8Array): string;
}

/** Header and claims to sign as usual, or the finished token as text. */
export type MutatedIdToken = string | { readonly header?: JsonPart; readonly claims?: JsonPart };

/** Places where a test changes what the provider says. Undefined: nothing is changed. */
export interface ProviderHooks {
  /** Changes an ID token. The draft is the test's own: change it in place and return it, or return something else. */
  mutateIdToken: ((draft: IdTokenDraft) => MutatedIdToken | Promise<MutatedIdToken>) | undefined;
  /** Changes a successful token reply; what is returned is sent as JSON (undefined: the reply, changed in place). */
  tokenResponse: ((reply: Record<string, unknown>, request: ReceivedRequest) => unknown) | undefined;
  /** Changes the parameters of an authorization reply, in place. */
  authorizationResponse: ((params: URLSearchParams, request: ReceivedRequest) => void) | undefined;
  /** Changes the discovery document; returns as `tokenResponse` does. */
  discoveryDocument: ((document: Record<string, unknown>) => unknown) | undefined;
  /** Changes the userinfo reply; returns as `tokenResponse` does. */
  userinfoResponse: ((claims: Record<string, unknown>) => unknown) | undefined;
}

/** What the endpoints work with. */
export interface ProviderState {
  readonly issuer: string;
  /** The issuer without a trailing slash; endpoint paths follow it. */
  readonly base: string;
  readonly settings: ProviderSettings;
  readonly hooks: ProviderHooks;
  readonly keys: SigningKeys;
  readonly grants: Grants;
  readonly people: readonly PersonClaims[];
  /** Who signs in next, unless the request names somebody. */
  readonly person: PersonClaims;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** The path of each endpoint, after the issuer. */
export const ENDPOINT_PATHS: Readonly<Record<Endpoint, string>> = {
  discovery: "/.well-known/openid-configuration",
  authorize: "/authorize",
  token: "/token",
  jwks: "/jwks",
  userinfo: "/userinfo",
  revoke: "/revoke",
};

/** Names the person of one authorization request, as JSON claims; sent by `signInCode`. */
export const PERSON_HEADER = "x-test-person";

/** Does the endpoint's work. */
export async function work(endpoint: Endpoint, request: ReceivedRequest, state: ProviderState): Promise<ProviderReply> {
  const methods = METHODS[endpoint];
  if (!methods.includes(request.method)) {
    return errorReply("invalid_request", `${endpoint} takes ${methods.join(" or ")}`, 405, { Allow: methods.join(", ") });
  }
  switch (endpoint) {
    case "discovery":
      return discovery(state);
    case "authorize":
      return authorize(request, state);
    case "token":
      return token(request, state);
    case "jwks":
      return { ...jsonReply({}), body: state.keys.published() };
    case "userinfo":
      return userinfo(request, state);
    case "revoke":
      return revoke(request, state);
  }
}

const METHODS: Readonly<Record<Endpoint, readonly string[]>> = {
  discovery: ["GET"],
  authorize: ["GET"],
  token: ["POST"],
  jwks: ["GET"],
  userinfo: ["GET", "POST"],
  revoke: ["POST"],
};

/** OpenID Connect Discovery section 3. */
function discovery({ issuer, base, settings, hooks }: ProviderState): ProviderReply {
  const document: Record<string, unknown> = {
    issuer,
    authorization_endpoint: base + ENDPOINT_PATHS.authorize,
    token_endpoint: base + ENDPOINT_PATHS.token,
    jwks_uri: base + ENDPOINT_PATHS.jwks,
    userinfo_endpoint: base + ENDPOINT_PATHS.userinfo,
    revocation_endpoint: base + ENDPOINT_PATHS.revoke,
    response_types_supported: ["code"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
    token_endpoint_auth_methods_supported: settings.tokenEndpointAuthMethods,
    revocation_endpoint_auth_methods_supported: settings.tokenEndpointAuthMethods,
    scopes_supported: settings.scopesSupported,
    claims_supported: ["sub", "iss", "aud", "exp", "iat", "email", "email_verified", "name", "picture"],
    ...(settings.pkce === "required" ? { code_challenge_methods_supported: ["S256"] } : {}),
    ...(settings.announceIss ? { authorization_response_iss_parameter_supported: true } : {}),
  };
  return changed(document, hooks.discoveryDocument);
}

/** OpenID Connect Core section 3.1.2, with a person who agrees at once. */
function authorize(request: ReceivedRequest, state: ProviderState): ProviderReply {
  const asked = readAuthorization(request, state.settings);
  if ("unusable" in asked) return errorReply("invalid_request", asked.unusable);
  return asked.mistake === undefined ? approve(asked, chosenPerson(request, state), state) : refuse(asked, asked.mistake, state);
}

/** An authorization request whose response goes to the client's redirect URI. */
export interface Authorization {
  readonly request: ReceivedRequest;
  readonly redirectUri: string;
  /** What the client did wrong; only {@link refuse} fits then. */
  readonly mistake: OAuthError | undefined;
}

export interface OAuthError {
  readonly error: string;
  readonly description: string;
}

/** @returns `unusable`: the request must not be answered by a redirect, and why */
export function readAuthorization(request: ReceivedRequest, settings: ProviderSettings): Authorization | { readonly unusable: string } {
  const { query } = request;
  const redirectUri = query.get("redirect_uri");
  // A redirect goes only to an address that is known to be the client's.
  if (query.get("client_id") !== settings.clientId) return { unusable: "unknown client_id" };
  if (redirectUri === null || !isAllowedRedirect(redirectUri, settings)) return { unusable: "unknown redirect_uri" };
  return { request, redirectUri, mistake: mistakeIn(query, settings) };
}

/** Redirects to the client with a code for this person. */
export function approve({ request, redirectUri }: Authorization, person: PersonClaims, state: ProviderState): ProviderReply {
  const { query } = request;
  const approval = {
    person: withSubject(person),
    scope: query.get("scope") ?? "",
    redirectUri,
    nonce: query.get("nonce") ?? undefined,
    challenge: query.get("code_challenge") ?? undefined,
  };
  return backToClient(new URLSearchParams({ code: state.grants.issueCode(approval, state.now()) }), request, redirectUri, state);
}

/** Redirects to the client with an error (RFC 6749 section 4.1.2.1). */
export function refuse({ request, redirectUri }: Authorization, { error, description }: OAuthError, state: ProviderState): ProviderReply {
  return backToClient(new URLSearchParams({ error, error_description: description }), request, redirectUri, state);
}

function backToClient(params: URLSearchParams, request: ReceivedRequest, redirectUri: string, state: ProviderState): ProviderReply {
  const sent = request.query.get("state");
  if (sent !== null) params.set("state", sent);
  if (state.settings.announceIss) params.set("iss", state.issuer);
  state.hooks.authorizationResponse?.(params, request);
  const location = new URL(redirectUri);
  for (const [name, value] of params) location.searchParams.append(name, value);
  return redirectReply(location.href);
}

function isAllowedRedirect(redirectUri: string, settings: ProviderSettings): boolean {
  return URL.canParse(redirectUri) && (settings.redirectUris?.includes(redirectUri) ?? true);
}

function mistakeIn(query: URLSearchParams, settings: ProviderSettings): OAuthError | undefined {
  const invalid = (description: string) => ({ error: "invalid_request", description });
  if (query.get("response_type") !== "code") return { error: "unsupported_response_type", description: "only code" };
  if (!(query.get("scope") ?? "").split(" ").includes("openid")) return { error: "invalid_scope", description: "openid is missing" };
  if (settings.pkce === "ignored") return undefined;
  if (query.get("code_challenge_method") !== "S256") return invalid("code_challenge_method must be S256");
  if (!/^[A-Za-z0-9_-]{43}$/.test(query.get("code_challenge") ?? "")) return invalid("code_challenge is no S256 challenge");
  return undefined;
}

function chosenPerson(request: ReceivedRequest, state: ProviderState): PersonClaims {
  const named = request.headers[PERSON_HEADER];
  if (typeof named === "string") return JSON.parse(decodeURIComponent(named)) as PersonClaims;
  return hintedPerson(state.people, request.query.get("login_hint")) ?? state.person;
}

/** RFC 6749 sections 4.1.3 and 6. */
async function token(request: ReceivedRequest, state: ProviderState): Promise<ProviderReply> {
  const refused = refusedClient(request, state.settings);
  if (refused !== undefined) return refused;
  switch (request.params.get("grant_type")) {
    case "authorization_code":
      return redeemCode(request, state);
    case "refresh_token":
      return refresh(request, state);
    default:
      return errorReply("unsupported_grant_type", "authorization_code or refresh_token");
  }
}

async function redeemCode(request: ReceivedRequest, state: ProviderState): Promise<ProviderReply> {
  const { params } = request;
  const { settings, grants } = state;
  const family = grants.redeemCode(
    params.get("code") ?? "",
    { redirectUri: params.get("redirect_uri"), verifier: params.get("code_verifier"), pkce: settings.pkce === "required" },
    state.now(),
  );
  if (typeof family === "string") return errorReply("invalid_grant", family);
  const { scope, nonce } = family.approval;
  const offline =
    settings.issueRefreshToken === "offline_access" ? scope.split(" ").includes("offline_access") : settings.issueRefreshToken;
  const refreshToken = offline ? grants.issueRefreshToken(family, state.now()) : undefined;
  return tokenResponse("authorization_code", family, refreshToken, nonce, request, state);
}

async function refresh(request: ReceivedRequest, state: ProviderState): Promise<ProviderReply> {
  const spent = state.grants.spendRefreshToken(request.params.get("refresh_token") ?? "", state.settings, state.now());
  if (typeof spent === "string") return errorReply("invalid_grant", spent);
  // A refreshed ID token should carry no nonce (OpenID Connect Core section 12.2).
  return tokenResponse("refresh_token", spent.family, spent.successor, undefined, request, state);
}

async function tokenResponse(
  grant: IdTokenDraft["grant"],
  family: Family,
  refreshToken: string | undefined,
  nonce: string | undefined,
  request: ReceivedRequest,
  state: ProviderState,
): Promise<ProviderReply> {
  const { settings, grants, hooks } = state;
  const accessToken = grants.issueAccessToken(family, state.now() + settings.accessTokenSeconds * 1000);
  const reply = {
    access_token: accessToken,
    token_type: "Bearer",
    expires_in: settings.accessTokenSeconds,
    scope: family.approval.scope,
    id_token: grants.note("id_token", await idToken(grant, family, accessToken, nonce, state)),
    ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
  };
  const { tokenResponse: change } = hooks;
  return changed(reply, change && ((value) => change(value, request)));
}

/** OpenID Connect Core section 2. */
async function idToken(
  grant: IdTokenDraft["grant"],
  family: Family,
  accessToken: string,
  nonce: string | undefined,
  { issuer, settings, keys, hooks, now }: ProviderState,
): Promise<string> {
  const { person } = family.approval;
  const issuedAt = Math.floor(now() / 1000);
  const claims: Record<string, unknown> = {
    ...(settings.claimsInIdToken ? person : { sub: person["sub"] }),
    iss: issuer,
    aud: settings.clientId,
    azp: settings.clientId,
    iat: issuedAt,
    exp: issuedAt + settings.idTokenSeconds,
    at_hash: createHash("sha256").update(accessToken).digest().subarray(0, 16).toString("base64url"),
    ...(nonce === undefined ? {} : { nonce }),
  };
  const { header } = keys;
  const sign: IdTokenDraft["sign"] = (itsHeader, itsClaims, key = keys.privateKey) => compactJws(itsHeader, itsClaims, key);
  const draft = { header, claims, grant, privateKey: keys.privateKey, publicKeyPem: keys.publicKeyPem, publicJwk: keys.publicJwk, sign };
  const returned: unknown = await hooks.mutateIdToken?.(draft);
  assertMutated(returned, draft);
  const mutated = returned ?? draft;
  return typeof mutated === "string" ? mutated : sign(mutated.header ?? header, mutated.claims ?? claims);
}

/**
 * Claims alone, or a list, would be passed over and the token be the usual one: a test that proves nothing.
 *
 * @throws TypeError
 */
function assertMutated(mutated: unknown, draft: IdTokenDraft): asserts mutated is MutatedIdToken | undefined {
  if (mutated === undefined || typeof mutated === "string") return;
  const names = typeof mutated === "object" && mutated !== null ? Object.keys(mutated) : [];
  const { header, claims } = Object(mutated) as { readonly header?: unknown; readonly claims?: unknown };
  const areParts = [header, claims].every((part) => part === undefined || typeof part === "string" || Object(part) === part);
  // A copy of the draft has the rest of it, too.
  const areKnown = names.every((name) => Object.hasOwn(draft, name));
  if ((names.includes("header") || names.includes("claims")) && areKnown && areParts) return;
  throw new TypeError("mutateIdToken gives { header, claims }, one of them, the finished token as text, or nothing.");
}

/** OpenID Connect Core section 5.3. */
function userinfo(request: ReceivedRequest, state: ProviderState): ProviderReply {
  const bearer = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? "")?.[1];
  const person = bearer === undefined ? undefined : state.grants.personOf(bearer, state.now());
  if (person === undefined) {
    return errorReply("invalid_token", "no usable access token", 401, { "WWW-Authenticate": 'Bearer error="invalid_token"' });
  }
  return changed({ ...person }, state.hooks.userinfoResponse);
}

/** RFC 7009 section 2. */
function revoke(request: ReceivedRequest, state: ProviderState): ProviderReply {
  const refused = refusedClient(request, state.settings);
  if (refused !== undefined) return refused;
  const value = request.params.get("token");
  if (value === null) return errorReply("invalid_request", "token is missing");
  state.grants.revoke(value);
  return { status: 200, headers: {}, body: "" };
}

/** The reply to a request that is no form or does not prove to be the client's; undefined when it does. */
function refusedClient({ headers, params }: ReceivedRequest, settings: ProviderSettings): ProviderReply | undefined {
  if (!isForm(headers)) return errorReply("invalid_request", "the body must be a form");
  const basic = basicCredentials(headers.authorization);
  const method = basic === undefined ? "client_secret_post" : "client_secret_basic";
  const id = basic?.id ?? params.get("client_id");
  const secret = basic?.secret ?? params.get("client_secret");
  const bothNames = params.get("client_id") ?? id;
  if (
    settings.tokenEndpointAuthMethods.includes(method) &&
    id === settings.clientId &&
    bothNames === id &&
    secret === settings.clientSecret
  ) {
    return undefined;
  }
  return errorReply("invalid_client", "client authentication failed", 401, { "WWW-Authenticate": 'Basic realm="provider"' });
}

function basicCredentials(authorization: string | undefined): { id: string; secret: string } | undefined {
  const encoded = /^Basic ([A-Za-z0-9+/]+=*)$/i.exec(authorization ?? "")?.[1];
  if (encoded === undefined) return undefined;
  const pair = Buffer.from(encoded, "base64").toString("utf8");
  const colon = pair.indexOf(":");
  if (colon < 0) return undefined;
  try {
    return { id: formDecoded(pair.slice(0, colon)), secret: formDecoded(pair.slice(colon + 1)) };
  } catch {
    return undefined;
  }
}

function formDecoded(value: string): string {
  return decodeURIComponent(value.replaceAll("+", " "));
}

function changed(value: Record<string, unknown>, change: ((value: Record<string, unknown>) => unknown) | undefined): ProviderReply {
  const returned = change?.(value);
  return jsonReply(returned === undefined ? value : returned);
}
