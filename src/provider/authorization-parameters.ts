import type { AuthorizationParams } from "../config/parameter-kinds.js";
import { isGoogleIssuer } from "../config/provider-hosts.js";
import { parseUrl } from "../http/redirects.js";
import type { StepUp } from "../record/record.js";
import type { ProviderSettings } from "./provider-settings.js";

/** The scope that requests a refresh token (OpenID Connect Core section 11). Google has its own parameter instead. */
const OFFLINE_ACCESS = "offline_access";

type LoginSettings = Pick<ProviderSettings, "issuer" | "scope" | "scopeIsDefault" | "loginPrompt">;
type RequestSettings = LoginSettings & Pick<ProviderSettings, "authorizationParams">;

/** Returns SCOPE unchanged if it is set; otherwise the default, with `offline_access` if the provider supports it. Pure. */
export function loginScopes(settings: LoginSettings, scopesSupported: readonly string[] | undefined): readonly string[] {
  const extend =
    settings.scopeIsDefault &&
    !isGoogle(settings) &&
    scopesSupported?.includes(OFFLINE_ACCESS) === true &&
    !settings.scope.includes(OFFLINE_ACCESS);
  return extend ? [...settings.scope, OFFLINE_ACCESS] : settings.scope;
}

/** Returns the parameters besides the scopes that make the provider give a refresh token. Pure. */
export function offlineParameters(settings: LoginSettings, scopes: readonly string[]): Readonly<Record<string, string>> {
  const google = isGoogle(settings);
  // OpenID Connect Core section 11: without prompt=consent a provider may ignore offline_access.
  const prompt = settings.loginPrompt ?? (google ? "select_account consent" : scopes.includes(OFFLINE_ACCESS) ? "consent" : "");
  return { ...(google && { access_type: "offline" }), ...(prompt !== "" && { prompt }) };
}

/**
 * Returns the parameters that the protocol does not own. IDP_AUTHORIZATION_PARAMS replaces the parameters of the login, and these replace
 * IDP_LOGIN_PROMPT and the defaults. Pure.
 *
 * @param ofLogin the parameters that the login passes on from its query
 */
export function furtherParameters(
  settings: RequestSettings,
  scopes: readonly string[],
  ofLogin: Readonly<Record<string, string>> = {},
): AuthorizationParams {
  return { ...offlineParameters(settings, scopes), ...ofLogin, ...settings.authorizationParams };
}

/**
 * Returns the parameters that have the user authenticate again (OpenID Connect Core section 3.1.2.1). Pure.
 *
 * @param prompt the prompt of any other login; a `consent` in it stays, since it can bring the refresh token
 */
export function stepUpParameters(
  { issuer }: Pick<ProviderSettings, "issuer">,
  { max_age: maxAge, acr }: StepUp,
  prompt: string | readonly string[] | undefined,
): AuthorizationParams {
  const prompts = [prompt ?? []].flat().flatMap((value) => value.split(" "));
  return {
    // A silent login could only fail, and the guard would send the user back to it.
    ...(prompts.includes("none") && { prompt: [] }),
    // Some providers know `prompt` but not `max_age`. `login` never weakens what `max_age` demands.
    ...(maxAge !== undefined && { max_age: String(maxAge), prompt: prompts.includes("consent") ? "login consent" : "login" }),
    ...(acr !== undefined && { acr_values: acr.join(" ") }),
    // Entra ID has authentication contexts instead, which it reports in the claim `acrs`.
    ...(acr !== undefined && isEntra(issuer) && { claims: contextsRequest(acr) }),
  };
}

/** Microsoft documents `value`, so one context is not sent as a list (OpenID Connect Core section 5.5.1). */
function contextsRequest(acr: readonly string[]): string {
  const wanted = acr.length === 1 ? { value: acr[0] } : { values: acr };
  return JSON.stringify({ id_token: { acrs: { essential: true, ...wanted } } });
}

const ENTRA = /(?:^|\.)login\.microsoftonline\.(?:com|us)$/;

function isEntra(issuer: string): boolean {
  return ENTRA.test(parseUrl(issuer)?.hostname ?? "");
}

/** The hostnames of providers that support `select_account` without announcing it. */
const SELECTS_ACCOUNT = /(?:^|\.)(?:login\.microsoftonline\.com|login\.microsoftonline\.us|auth0\.com)$/;

/**
 * Returns the `prompt` that lets a user choose another account, without a new consent. Pure.
 *
 * @param supported `prompt_values_supported` of the discovery document
 */
export function accountPrompt(settings: LoginSettings, supported: readonly string[] | undefined): "select_account" | "login" {
  const knows = isGoogle(settings) || SELECTS_ACCOUNT.test(parseUrl(settings.issuer)?.hostname ?? "");
  return knows || supported?.includes("select_account") === true ? "select_account" : "login";
}

/**
 * Whether the default scopes might give no refresh token, by the discovery document. The startup checks cover an explicit
 * SCOPE. Pure.
 */
export function defaultScopesLackRefresh(settings: ProviderSettings, scopesSupported: readonly string[] | undefined): boolean {
  if (!settings.sessionAutoRefresh || !settings.scopeIsDefault || isGoogle(settings) || scopesSupported === undefined) return false;
  return !loginScopes(settings, scopesSupported).includes(OFFLINE_ACCESS);
}

function isGoogle({ issuer }: LoginSettings): boolean {
  return isGoogleIssuer(issuer);
}
