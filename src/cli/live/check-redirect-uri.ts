import { randomBytes } from "node:crypto";
import { check } from "../../config/startup-checks.js";
import { ProviderUnavailableError, type Finding } from "../../errors.js";
import type { Provider } from "../../ports/provider.js";
import type { Settings } from "../../config/read-settings.js";
import type { Clock } from "../../clock.js";
import { navigate, type Landing } from "./browser-navigation.js";
import { shownError } from "./message-parts.js";
import { unreachable } from "./unreachable-endpoint.js";

/** The redirect URI as it will be sent; null: BASE_URL is unset, so each request's Host decides. */
export function redirectUriOf({ baseUrl, publicPath }: Settings): string | null {
  return baseUrl === null ? null : new URL(`${baseUrl}${publicPath}login-callback`).href;
}

export interface RedirectUriResult {
  /** Null: the answer does not tell. */
  readonly isRegistered: boolean | null;
  readonly findings: readonly Finding[];
}

const INVALID_REQUEST =
  "Compare SCOPE and the client's registration at the provider with what the error says. If the registration requires pushed authorization " +
  "requests (PAR) or signed request objects, turn that off: idpauth sends neither.";

/** What a provider says to a browser that it does not know, and that must not be shown anything (OpenID Connect Core section 3.1.2.6). */
const EXPECTED = ["login_required", "consent_required", "interaction_required", "account_selection_required"];

/**
 * Whether the provider redirects to the redirect URI: requests a sign-in with `prompt=none`, with the URL that the application
 * uses and as a browser's navigation, and follows no redirect. The request has no cookie, so it signs in no user, and shows no
 * page; a code in the response is dropped. A provider redirects to a registered redirect URI, even with an error, and to no
 * other (RFC 6749 section 4.1.2.1).
 *
 * @param provider has its discovery document already, so that what fails is the authorization endpoint
 * @param timeout IDP_HTTP_TIMEOUT, seconds
 */
export async function checkRedirectUri(provider: Provider, redirectUri: string, clock: Clock, timeout: number): Promise<RedirectUriResult> {
  const request = { redirectUri, state: unguessable(), nonce: unguessable(), verifier: unguessable() };
  const address = new URL(await provider.authorizationUrl(request));
  address.searchParams.set("prompt", "none");
  let landing: Landing;
  try {
    landing = await navigate(address, clock, timeout);
  } catch (error) {
    if (!(error instanceof ProviderUnavailableError)) throw error;
    const finding = unreachable("authorization", address.href, error, timeout);
    return { isRegistered: null, findings: finding === undefined ? [] : [finding] };
  }
  return resultOf(landing, address, redirectUri);
}

function unguessable(): string {
  return randomBytes(32).toString("base64url");
}

/** Pure. */
export function resultOf({ status, location }: Landing, authorizationEndpoint: URL, redirectUri: string): RedirectUriResult {
  if (status >= 300 && status < 400) {
    const target = targetOf(location, authorizationEndpoint);
    if (target === undefined) return broken(`redirects to no address (${status})`);
    if (`${target.origin}${target.pathname}` === redirectUri) return { isRegistered: true, findings: errorFindings(target) };
    // A page of the provider's own: about an error, or to sign in at, `prompt=none` or not.
    return target.pathname.split("/").includes("error") ? refused(redirectUri) : { isRegistered: null, findings: [] };
  }
  if ([400, 401, 403, 404, 422].includes(status)) return refused(redirectUri, status);
  if (status >= 500) return broken(`answers with ${status}`);
  return { isRegistered: null, findings: [] };
}

function targetOf(location: string | null, base: URL): URL | undefined {
  return location !== null && URL.canParse(location, base.href) ? new URL(location, base) : undefined;
}

function refused(redirectUri: string, status?: number): RedirectUriResult {
  const how = status === undefined ? "leads to a page of its own about an error" : `answers with ${status}`;
  const message =
    `The authorization endpoint ${how} instead of leading back to ${redirectUri}: ` +
    "that redirect URI is probably not registered for IDP_CLIENT_ID (option clientId), or there is no such client.";
  return {
    isRegistered: false,
    findings: [check("W107", message, `Register ${redirectUri} at the provider, to the letter, for this very client id.`)],
  };
}

/** An outage that passes, or one that nobody can sign in over. */
function broken(how: string): RedirectUriResult {
  const message = `The authorization endpoint ${how}: if it does so to browsers, too, nobody can sign in.`;
  const remedy = "Try again later. If it stays so, it is the provider's mistake, or that of what stands in front of it.";
  return { isRegistered: null, findings: [check("W110", message, remedy)] };
}

function errorFindings(target: URL): Finding[] {
  const error = target.searchParams.get("error");
  if (error === null || EXPECTED.includes(error)) return [];
  const message = `The authorization endpoint refuses the login as it will be sent (${shownError(error) ?? "an error of its own"}).`;
  return [check("W110", message, error === "invalid_request" ? INVALID_REQUEST : undefined)];
}
