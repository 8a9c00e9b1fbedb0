import { authenticate, authenticationClaims, authenticationMistake, type OAuthError } from "./authentication.js";
import { hintedPerson, PERSON_HEADER, withSubject, type PersonClaims } from "./people.js";
import type { ProviderSettings } from "./test-provider-settings.js";
import type { ProviderState } from "./test-provider-state.js";
import type { ReceivedRequest } from "./received-requests.js";
import { announcedIssuer } from "./entra-tenants.js";
import { errorReply, redirectReply, type ProviderReply } from "./replies.js";

/** OpenID Connect Core section 3.1.2, with a user who signs in and agrees at once. */
export function authorize(request: ReceivedRequest, state: ProviderState): ProviderReply {
  const asked = readAuthorization(request, state.settings);
  if ("unusable" in asked) return errorReply("invalid_request", asked.unusable);
  if (asked.mistake !== undefined) return refuse(asked, asked.mistake, state);
  const person = withSubject(chosenPerson(request, state));
  const authTime = authenticate(String(person["sub"]), request.query, state);
  return typeof authTime === "number" ? approve(asked, person, authTime, state) : refuse(asked, authTime, state);
}

/** An authorization request whose response goes to the client's redirect URI. */
export interface Authorization {
  readonly request: ReceivedRequest;
  readonly redirectUri: string;
  /** The client's mistake; then only {@link refuse} is allowed. */
  readonly mistake: OAuthError | undefined;
}

/** Reads an authorization request. `unusable`: the reason that the response must not be a redirect. */
export function readAuthorization(request: ReceivedRequest, settings: ProviderSettings): Authorization | { readonly unusable: string } {
  const { query } = request;
  const redirectUri = query.get("redirect_uri");
  // A redirect goes only to an address that is known to be the client's.
  if (query.get("client_id") !== settings.clientId) return { unusable: "unknown client_id" };
  if (redirectUri === null || !isAllowedRedirect(redirectUri, settings)) return { unusable: "unknown redirect_uri" };
  return { request, redirectUri, mistake: mistakeIn(query, settings) };
}

/** Redirects to the client with a code for this person. @param authTime when the person signed in here, in epoch seconds */
export function approve(
  { request, redirectUri }: Authorization,
  person: PersonClaims,
  authTime: number,
  state: ProviderState,
): ProviderReply {
  const { query } = request;
  const claims = withSubject(person);
  const { sub, sid } = claims;
  const session = state.sessions.forSignIn(String(sub), typeof sid === "string" ? sid : undefined);
  const approval = {
    person: claims,
    sid: session.sid,
    authentication: authenticationClaims(query, authTime, state.settings),
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
  if (state.settings.announceIss) params.set("iss", announcedIssuer(state));
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
  const authentication = authenticationMistake(query);
  if (authentication !== undefined) return invalid(authentication);
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
