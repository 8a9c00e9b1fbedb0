import { audienceIn, targetMistake } from "./access-tokens.js";
import { appleMistake, postedUser } from "./apple.js";
import {
  authenticate,
  authenticationClaims,
  authenticationMistake,
  words,
  type OAuthError,
} from "./authentication.js";
import { responseModeMistake, responseTo } from "./authorization-responses.js";
import { announcedIssuer } from "./entra-tenants.js";
import {
  hintedPerson,
  PERSON_HEADER,
  withoutScopes,
  withSubject,
  type PersonClaims,
} from "./people.js";
import type { ReceivedRequest } from "./received-requests.js";
import { errorReply, type ProviderReply } from "./replies.js";
import { signedParameters } from "./request-objects.js";
import type { ProviderSettings } from "./test-provider-settings.js";
import type { ProviderState } from "./test-provider-state.js";

/** OpenID Connect Core section 3.1.2, with a user who signs in and agrees at once. */
export async function authorize(
  request: ReceivedRequest,
  state: ProviderState,
): Promise<ProviderReply> {
  const asked = await readAuthorization(request, state);
  if ("unusable" in asked) return errorReply("invalid_request", asked.unusable);
  if (asked.mistake !== undefined) return refuse(asked, asked.mistake, state);
  const person = withSubject(chosenPerson(asked.request, state));
  const authTime = authenticate(String(person["sub"]), asked.request.query, state);
  return typeof authTime === "number"
    ? approve(asked, { person, authTime }, state)
    : refuse(asked, authTime, state);
}

/** An authorization request whose response goes to the client's redirect URI. */
export interface Authorization {
  /** Its query is the authorization request: the pushed one, if there is one. */
  readonly request: ReceivedRequest;
  /** Of the pushed request, which the response to the client spends. */
  readonly requestUri: string | undefined;
  readonly redirectUri: string;
  /** The client's mistake; then only {@link refuse} is allowed. */
  readonly mistake: OAuthError | undefined;
}

/**
 * Reads an authorization request. `unusable`: the reason that the response must not be a redirect.
 */
export async function readAuthorization(
  received: ReceivedRequest,
  state: ProviderState,
): Promise<Authorization | { readonly unusable: string }> {
  const { settings, pushed } = state;
  const clientId = received.query.get("client_id");
  if (clientId !== settings.clientId) return { unusable: "unknown client_id" };
  const requestUri = received.query.get("request_uri") ?? undefined;
  // Every parameter is the pushed one (RFC 9101 section 5): the browser could have changed those in
  // the URL.
  const given =
    requestUri === undefined ? received.query : pushed.find(requestUri, clientId, state.now());
  if (given === undefined) return { unusable: "request_uri is unknown, expired or used" };
  // A pushed one was read when it arrived.
  const read =
    requestUri === undefined
      ? await signedParameters(given, state)
      : { kind: "read" as const, params: given };
  if (read.kind === "wrong") return { unusable: read.mistake.description };
  const query = read.params;
  const redirectUri = query.get("redirect_uri");
  // A redirect goes only to an address that is known to be the client's.
  if (redirectUri === null || !isAllowedRedirect(redirectUri, settings))
    return { unusable: "unknown redirect_uri" };
  const isForbidden = settings.requirePushedRequests && requestUri === undefined;
  const mistake = isForbidden ? invalid("the request must be pushed") : mistakeIn(query, settings);
  return { request: { ...received, query }, requestUri, redirectUri, mistake };
}

/** Returns the client's mistake in an authorization request that it pushes. */
export function authorizationMistake(
  query: URLSearchParams,
  settings: ProviderSettings,
): OAuthError | undefined {
  return isAllowedRedirect(query.get("redirect_uri") ?? "", settings)
    ? mistakeIn(query, settings)
    : invalid("unknown redirect_uri");
}

/** A person who is signed in at the provider. */
export interface SignedInPerson {
  readonly person: PersonClaims;
  /** When the person signed in here, in epoch seconds. */
  readonly authTime: number;
  /** Of the requested scopes, those that the person grants; default all. */
  readonly grantedScopes?: readonly string[];
}

/** Redirects to the client with a code for this person. */
export function approve(
  asked: Authorization,
  { person, authTime, grantedScopes }: SignedInPerson,
  state: ProviderState,
): Promise<ProviderReply> {
  const { redirectUri } = asked;
  const { query } = asked.request;
  const scopes = words(query.get("scope"));
  const leftOut = scopes.filter((scope) => grantedScopes?.includes(scope) === false);
  const claims = withoutScopes(withSubject(person), leftOut);
  const { sub, sid } = claims;
  const session = state.sessions.forSignIn(String(sub), typeof sid === "string" ? sid : undefined);
  const approval = {
    person: claims,
    sid: session.sid,
    authentication: authenticationClaims(query, authTime, state.settings),
    authTime,
    scope: scopes.filter((scope) => !leftOut.includes(scope)).join(" "),
    consented: grantedScopes !== undefined,
    audience: audienceIn(query),
    redirectUri,
    nonce: query.get("nonce") ?? undefined,
    challenge: query.get("code_challenge") ?? undefined,
    dpopJkt: state.settings.dpop === "ignored" ? undefined : (query.get("dpop_jkt") ?? undefined),
  };
  const response = new URLSearchParams({ code: state.grants.issueCode(approval, state.now()) });
  const user = state.settings.apple === undefined ? undefined : postedUser(claims, query, state);
  if (user !== undefined) response.set("user", user);
  return backToClient(response, asked, state);
}

/** Redirects to the client with an error (RFC 6749 section 4.1.2.1). */
export function refuse(
  asked: Authorization,
  { error, description }: OAuthError,
  state: ProviderState,
): Promise<ProviderReply> {
  state.noteRefusal({ endpoint: "authorize", error, reason: description });
  return backToClient(new URLSearchParams({ error, error_description: description }), asked, state);
}

function backToClient(
  params: URLSearchParams,
  { request, requestUri, redirectUri }: Authorization,
  state: ProviderState,
): Promise<ProviderReply> {
  if (requestUri !== undefined) state.pushed.spend(requestUri);
  const sent = request.query.get("state");
  if (sent !== null) params.set("state", sent);
  if (state.settings.announceIss) params.set("iss", announcedIssuer(state));
  state.hooks.authorizationResponse?.(params, request);
  return responseTo(params, { mode: request.query.get("response_mode"), redirectUri }, state);
}

function isAllowedRedirect(redirectUri: string, settings: ProviderSettings): boolean {
  return URL.canParse(redirectUri) && (settings.redirectUris?.includes(redirectUri) ?? true);
}

function invalid(description: string): OAuthError {
  return { error: "invalid_request", description };
}

function mistakeIn(query: URLSearchParams, settings: ProviderSettings): OAuthError | undefined {
  if (query.get("response_type") !== "code")
    return { error: "unsupported_response_type", description: "only code" };
  if (!(query.get("scope") ?? "").split(" ").includes("openid"))
    return { error: "invalid_scope", description: "openid is missing" };
  const target = targetMistake(query);
  if (target !== undefined) return target;
  const authentication = authenticationMistake(query);
  if (authentication !== undefined) return invalid(authentication);
  const atApple = settings.apple === undefined ? undefined : appleMistake(query);
  if (atApple !== undefined) return atApple;
  const mode = responseModeMistake(query.get("response_mode"), settings);
  if (mode !== undefined) return invalid(mode);
  if (settings.pkce === "ignored") return undefined;
  if (query.get("code_challenge_method") !== "S256")
    return invalid("code_challenge_method must be S256");
  if (!/^[A-Za-z0-9_-]{43}$/.test(query.get("code_challenge") ?? ""))
    return invalid("code_challenge is no S256 challenge");
  return undefined;
}

function chosenPerson(request: ReceivedRequest, state: ProviderState): PersonClaims {
  const named = request.headers[PERSON_HEADER];
  if (typeof named === "string") return JSON.parse(decodeURIComponent(named)) as PersonClaims;
  return hintedPerson(state.people, request.query.get("login_hint")) ?? state.person;
}
