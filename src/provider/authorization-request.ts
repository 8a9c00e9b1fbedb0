import { calculatePKCECodeChallenge } from "oauth4webapi";
import { askedAtLogin } from "../config/api-scopes.js";
import type { AuthorizationParams } from "../config/parameter-kinds.js";
import { profileOf, type ProviderProfile } from "../config/provider-profiles.js";
import type { ProviderSettings } from "../config/setting-table.js";
import type { AuthorizationRequest, TokenTarget } from "../ports/provider.js";
import type { StepUp } from "../record/authentication-strength.js";
import { isObject } from "../record/json.js";
import { withoutUndefined } from "../record/without-undefined.js";
import { jsonObject } from "./http-to-provider.js";
import type { ProviderMetadata } from "./provider-metadata.js";

/** What a login requests, of whom. */
interface RequestedLogin {
  readonly settings: ProviderSettings;
  readonly metadata: ProviderMetadata;
  /** The APIs that need tokens. */
  readonly targets?: readonly TokenTarget[];
}

/**
 * Returns the parameters of an authentication request (OpenID Connect Core section 3.1.2.1) with
 * PKCE.
 */
export async function authorizationParameters(
  request: AuthorizationRequest,
  { settings, metadata, targets = [] }: RequestedLogin,
): Promise<AuthorizationParams> {
  const { redirectUri, state, nonce, verifier, selectAccount = false, api } = request;
  const asked = askedAtLogin(targets, settings.issuer, api);
  const scopes = [...new Set([...loginScopes(settings, metadata), ...asked.scopes])];
  const further = furtherParameters(settings, scopes, request.parameters);
  // Only an API's own token needs a refresh token.
  const asksConsent =
    request.wantsRefreshToken === true && targets.some((target) => target.api === api);
  const withConsent = {
    ...further,
    ...(asksConsent && consentParameters(settings, scopes, further["prompt"])),
  };
  return {
    ...withConsent,
    ...(asked.resources.length > 0 && {
      resource: [...new Set([...[withConsent["resource"] ?? []].flat(), ...asked.resources])],
    }),
    ...authenticationParameters(request, { settings, metadata }, withConsent["prompt"]),
    ...(selectAccount && { prompt: accountPrompt(settings, metadata.prompt_values_supported) }),
    client_id: settings.clientId,
    response_type: "code",
    ...(settings.responseMode !== "query" && { response_mode: settings.responseMode }),
    redirect_uri: new URL(redirectUri).href,
    scope: scopes.join(" "),
    state,
    nonce,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  };
}

/** What the ID token must show of the user's authentication. @param prompt of any other login */
function authenticationParameters(
  { stepUp, requestsAuthTime = false, claims: demanded }: AuthorizationRequest,
  { settings, metadata }: RequestedLogin,
  prompt: string | readonly string[] | undefined,
): AuthorizationParams {
  const hasClaimsParameter = metadata.claims_parameter_supported === true;
  const claims = claimsRequest(demanded, {
    ...(requestsAuthTime && hasClaimsParameter && AUTH_TIME),
    ...(stepUp && contextsOf(settings, stepUp)),
  });
  return {
    ...(requestsAuthTime && !hasClaimsParameter && { max_age: LONGEST_MAX_AGE }),
    ...(stepUp && stepUpAuthorizationParams(stepUp, prompt)),
    ...withoutUndefined({ claims }),
  };
}

/**
 * Returns the parameter `claims` (OpenID Connect Core section 5.5); undefined: none is needed.
 *
 * @param demanded what the provider has demanded, as the text of the parameter
 * @param idToken the claims of the ID token that we request
 */
function claimsRequest(demanded: string | undefined, idToken: object): string | undefined {
  // It comes from a stored record, which is validated like any other input.
  const { id_token: theirs, ...others } = jsonObject({ text: demanded ?? "{}" }) ?? {};
  const inIdToken = { ...(isObject(theirs) && theirs), ...idToken };
  const request = {
    ...others,
    ...(Object.keys(inIdToken).length > 0 && { id_token: inIdToken }),
  };
  return Object.keys(request).length > 0 ? JSON.stringify(request) : undefined;
}

/**
 * Adds parameters to an endpoint's address, which may contain parameters of its own.
 * @param replaced those of the address that are left out
 */
export function withParameters(
  endpoint: string | URL,
  parameters: AuthorizationParams,
  replaced: AuthorizationParams = parameters,
): URL {
  const url = new URL(endpoint);
  for (const name of Object.keys(replaced)) url.searchParams.delete(name);
  for (const [name, value] of entriesOf(parameters)) url.searchParams.append(name, value);
  return url;
}

/**
 * The authorization endpoint's address with a signed request object. OpenID Connect Core section 6.1
 * demands `response_type` and `scope` outside, too, and RFC 9101 section 5 allows it: what counts is
 * inside.
 */
export function signedAddress(
  { authorization_endpoint: endpoint }: ProviderMetadata,
  parameters: AuthorizationParams,
  signed: AuthorizationParams,
): string {
  const { response_type = [], scope = [] } = parameters;
  return withParameters(endpoint, { response_type, scope, ...signed }, parameters).href;
}

/** Each parameter as often as it has values. */
export function entriesOf(parameters: AuthorizationParams): [name: string, value: string][] {
  return Object.entries(parameters).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  );
}

/** The scope that requests a refresh token (OpenID Connect Core section 11). */
const OFFLINE_ACCESS = "offline_access";

/**
 * The parts of the discovery document that decide about refresh tokens. Undefined: the document
 * does not have them.
 */
interface Announced {
  readonly authorization_endpoint?: string | undefined;
  readonly scopes_supported?: readonly string[] | undefined;
  readonly grant_types_supported?: readonly string[] | undefined;
}

/** Whether a login has to request `offline_access` for its refresh token. */
function needsScope({ issuer }: ProviderSettings, announced: Announced): boolean {
  return profileOf(issuer, announced).offline === OFFLINE_ACCESS;
}

/** Whether a login with these scopes has to ask for the user's consent for its refresh token. */
function needsConsent(
  consent: ProviderProfile["consent"],
  scopes: readonly string[],
): consent is Exclude<ProviderProfile["consent"], { readonly for: "nothing" }> {
  return (
    consent.for === "every-login" ||
    (consent.for === OFFLINE_ACCESS && scopes.includes(OFFLINE_ACCESS))
  );
}

/**
 * Returns SCOPE unchanged if it is set; otherwise the default, with the provider's scope for the
 * name, and with `offline_access` if the provider supports it and needs it. Pure.
 */
export function loginScopes(settings: ProviderSettings, announced: Announced): readonly string[] {
  const { scope, scopeIsDefault, issuer } = settings;
  if (!scopeIsDefault) return scope;
  const { nameScope } = profileOf(issuer, announced);
  const scopes = scope.map((one) => (one === "profile" ? nameScope : one));
  const extend =
    needsScope(settings, announced) &&
    announced.scopes_supported?.includes(OFFLINE_ACCESS) === true &&
    !scopes.includes(OFFLINE_ACCESS);
  return extend ? [...scopes, OFFLINE_ACCESS] : scopes;
}

/** Returns the parameters besides the scopes that make the provider give a refresh token. Pure. */
export function offlineParameters(
  settings: ProviderSettings,
  scopes: readonly string[],
): Readonly<Record<string, string>> {
  const { offline, consent } = profileOf(settings.issuer);
  const prompt = settings.loginPrompt ?? (needsConsent(consent, scopes) ? consent.prompt : "omit");
  return withoutUndefined({
    access_type: offline === "access_type" ? "offline" : undefined,
    prompt: prompt === "omit" ? undefined : prompt,
  });
}

/**
 * Returns the prompt of a login that has to bring a refresh token, although IDP_LOGIN_PROMPT or an
 * earlier consent keeps the provider from sending one. Pure.
 *
 * @param prompt the prompt of any other login
 */
function consentParameters(
  { issuer }: { readonly issuer: string },
  scopes: readonly string[],
  prompt: string | readonly string[] | undefined,
): AuthorizationParams {
  const prompts = [prompt ?? []].flat().flatMap((value) => value.split(" "));
  const bringsOne = needsConsent(profileOf(issuer).consent, scopes);
  if (!bringsOne || prompts.includes("none") || prompts.includes("consent")) return {};
  return { prompt: [...prompts, "consent"].join(" ") };
}

/**
 * Returns the parameters that the protocol does not own. IDP_AUTHORIZATION_PARAMS replaces the
 * parameters of the login, and these replace IDP_LOGIN_PROMPT and the defaults. Pure.
 *
 * @param ofLogin the parameters that the login passes on from its query
 */
export function furtherParameters(
  settings: ProviderSettings,
  scopes: readonly string[],
  ofLogin: Readonly<Record<string, string>> = {},
): AuthorizationParams {
  return { ...offlineParameters(settings, scopes), ...ofLogin, ...settings.authorizationParams };
}

/**
 * Returns the parameters that have the user authenticate again (OpenID Connect Core
 * section 3.1.2.1). Pure.
 *
 * @param prompt the prompt of any other login; a `consent` in it stays, since it can bring the
 *   refresh token
 */
export function stepUpAuthorizationParams(
  { max_age: maxAge, acr }: StepUp,
  prompt: string | readonly string[] | undefined,
): AuthorizationParams {
  const prompts = [prompt ?? []].flat().flatMap((value) => value.split(" "));
  return {
    // A silent login could only fail, and the guard would send the user back to it.
    ...(prompts.includes("none") && { prompt: [] }),
    // Some providers know `prompt` but not `max_age`. `login` never weakens what `max_age` demands.
    ...(maxAge !== undefined && {
      max_age: String(maxAge),
      prompt: prompts.includes("consent") ? "login consent" : "login",
    }),
    ...(acr !== undefined && { acr_values: acr.join(" ") }),
  };
}

/** A member of the parameter `claims` that requests `auth_time` (OpenID Connect Core 5.5.1.1). */
const AUTH_TIME = { auth_time: { essential: true } } as const;

/**
 * With `max_age`, the ID token must contain `auth_time` (OpenID Connect Core section 2). A year, so
 * that the provider asks no user again.
 */
const LONGEST_MAX_AGE = "31536000";

/**
 * A member of the parameter `claims` for a provider that reports authentication contexts in a claim
 * of its own. Microsoft documents `value`, so one context is not sent as a list (OpenID Connect
 * Core section 5.5.1).
 */
export function contextsOf({ issuer }: { readonly issuer: string }, { acr }: StepUp): object {
  const { contextClaim } = profileOf(issuer).stepUp;
  if (acr === undefined || contextClaim === undefined) return {};
  const wanted = acr.length === 1 ? { value: acr[0] } : { values: acr };
  return { [contextClaim]: { essential: true, ...wanted } };
}

/**
 * Returns the `prompt` that lets a user choose another account, without a new consent. Pure.
 *
 * @param supported `prompt_values_supported` of the discovery document
 */
export function accountPrompt(
  { issuer }: ProviderSettings,
  supported: readonly string[] | undefined,
): "select_account" | "login" {
  const isKnown = profileOf(issuer).chooseAccount === "always";
  return isKnown || supported?.includes("select_account") === true ? "select_account" : "login";
}

/**
 * Returns why a login might bring no refresh token: the provider does not announce the grant or the
 * scope, or the login does not request the scope or the consent. Some providers give one
 * nevertheless. Undefined: it should bring one, or none is wanted. Pure.
 */
export function refreshDoubt(
  settings: ProviderSettings,
  document: Announced,
): "scope" | "grant" | "prompt" | undefined {
  const { scopes_supported: supported, grant_types_supported: grants } = document;
  if (!settings.sessionAutoRefresh) return undefined;
  const scopes = loginScopes(settings, document);
  if (
    needsScope(settings, document) &&
    (!scopes.includes(OFFLINE_ACCESS) || supported?.includes(OFFLINE_ACCESS) === false)
  )
    return "scope";
  if (grants?.includes("refresh_token") === false) return "grant";
  if (!needsConsent(profileOf(settings.issuer).consent, scopes)) return undefined;
  const { prompt = "" } = furtherParameters(settings, scopes);
  return typeof prompt === "string" && !prompt.split(" ").includes("consent")
    ? "prompt"
    : undefined;
}
