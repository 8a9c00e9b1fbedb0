import { randomBytes } from "node:crypto";
import type { Clock } from "../clock.js";
import type { UnnamedFinding } from "../config/findings.js";
import type { Settings } from "../config/read-settings.js";
import type { SettingText } from "../config/setting-names.js";
import { ProviderRefusedError, ProviderUnavailableError } from "../errors.js";
import type { Provider } from "../ports/provider.js";
import { jsonObject, withDeadline } from "../provider/http-to-provider.js";
import { failureOf } from "./explain-connection-error.js";
import { liveCheck } from "./live-check-table.js";
import { shownError } from "./message-parts.js";
import type { Landing, Navigate } from "./navigation.js";
import { FROM_THIS_MACHINE, unreachable } from "./unreachable-endpoint.js";

/**
 * Returns the redirect URI that a login sends; null if BASE_URL isn't one origin, since each request's
 * `Host` header decides then.
 */
export function redirectUriOf(
  { baseUrl, callbackOrigin, publicPath }: Settings,
  key?: string,
): string | null {
  const origin = callbackOrigin ?? baseUrl;
  return typeof origin === "string"
    ? new URL(`${origin}${publicPath}login-callback${key === undefined ? "" : `/${key}`}`).href
    : null;
}

/** How the check navigates. */
interface Browser {
  readonly clock: Clock;
  /** IDP_HTTP_TIMEOUT, seconds. */
  readonly timeout: number;
  readonly navigate: Navigate;
}

export interface RedirectUriResult {
  /** Null: the response does not show it. */
  readonly isRegistered: boolean | null;
  /** The provider fails at `prompt=none`, but not without it. */
  readonly refusesPrompt?: boolean;
  readonly findings: readonly UnnamedFinding[];
}

const INVALID_REQUEST: SettingText = ({ env, label }) =>
  `Compare ${label("scope")} and the client's registration at the provider with the error. If the registration requires pushed authorization ` +
  `requests (PAR), set ${env("pushedRequests")} to \`always\`. If it requires signed request objects (JAR), set ${env("signedRequests")} to \`always\`.`;

/**
 * The errors for `prompt=none` from a browser without a session at the provider (OpenID Connect
 * Core section 3.1.2.6).
 */
const EXPECTED = [
  "login_required",
  "consent_required",
  "interaction_required",
  "account_selection_required",
];

/** The errors that every login of this client gets from every user (RFC 6749 4.1.2.1). */
const OF_EVERY_LOGIN = [
  "invalid_scope",
  "invalid_target",
  "unauthorized_client",
  "unsupported_response_type",
];

/**
 * Checks whether the provider redirects to the redirect URI. Requests a sign-in with the
 * application's URL, which it pushes first if the application does, and as a browser's navigation,
 * and follows no redirect. The request has no cookie, so it signs in no user and shows no page. A
 * code in the response is ignored. A provider redirects only to a registered redirect URI, even
 * with an error (RFC 6749 section 4.1.2.1).
 *
 * @param provider sends `prompt=none`, and has fetched its discovery document, so that a failure is
 *   one of the authorization endpoint
 */
export async function checkRedirectUri(
  provider: Provider,
  redirectUri: string,
  browser: Browser,
): Promise<RedirectUriResult> {
  const request = {
    redirectUri,
    state: unguessable(),
    nonce: unguessable(),
    verifier: unguessable(),
  };
  let address: URL;
  try {
    // Some providers refuse a request whose code wouldn't be bound.
    const dpopKey = await provider.createDpopKey();
    address = new URL((await provider.authorizationUrl({ ...request, dpopKey })).url);
  } catch (error) {
    return { isRegistered: null, findings: [pushFinding(error, redirectUri)] };
  }
  let landing: Landing;
  try {
    landing = await landingOf(address, browser);
  } catch (error) {
    if (!(error instanceof ProviderUnavailableError)) throw error;
    const finding = unreachable("authorization", address.href, failureOf(error, browser.timeout));
    return { isRegistered: null, findings: finding === undefined ? [] : [finding] };
  }
  const result = resultOf(landing, address, redirectUri);
  if (landing.status < 500 || !address.searchParams.has("prompt")) return result;
  return withoutPrompt(result, address, { ...browser, redirectUri });
}

/** @throws ProviderUnavailableError there was no response */
async function landingOf(address: URL, browser: Browser): Promise<Landing> {
  const { clock, timeout, navigate } = browser;
  return withDeadline(clock, timeout, async (signal) => {
    try {
      return await navigate(address, signal);
    } catch (cause) {
      if (cause instanceof ProviderUnavailableError) throw cause;
      throw signal.aborted
        ? new ProviderUnavailableError("timeout")
        : new ProviderUnavailableError("network", { cause });
    }
  });
}

/**
 * The result of the same request without `prompt=none`, which some providers answer with an error of
 * their own. A user's login doesn't send it, so only a failure without it concerns sign-ins.
 */
async function withoutPrompt(
  result: RedirectUriResult,
  address: URL,
  { redirectUri, ...browser }: Browser & { readonly redirectUri: string },
): Promise<RedirectUriResult> {
  const plain = new URL(address);
  plain.searchParams.delete("prompt");
  try {
    const landing = await landingOf(plain, browser);
    return landing.status < 500
      ? { ...resultOf(landing, plain, redirectUri), refusesPrompt: true }
      : result;
  } catch (error) {
    if (!(error instanceof ProviderUnavailableError)) throw error;
    return result;
  }
}

/**
 * Without a push, nothing is sent that could fail.
 * @throws unknown the error is not the provider's
 */
function pushFinding(error: unknown, redirectUri: string): UnnamedFinding {
  if (error instanceof ProviderRefusedError) {
    const why = shownError(error.reason) ?? "with an unknown error";
    const message = `The provider refuses the application's pushed login request (${why}).`;
    if (OF_EVERY_LOGIN.includes(error.reason)) return liveCheck("E116", message);
    return liveCheck(
      "W110",
      message,
      ({ label }) =>
        `Register exactly ${redirectUri} at the provider, for this client ID. Compare ${label("scope")} with the error.`,
    );
  }
  if (!(error instanceof ProviderUnavailableError)) throw error;
  if (error.isMisconfiguration)
    return liveCheck(
      "E109",
      `The endpoint for pushed authorization requests doesn't accept this client (${error.reason}).`,
    );
  const message = `The endpoint for pushed authorization requests doesn't work (${error.reason}). Nobody can sign in.`;
  return liveCheck("E101", message, FROM_THIS_MACHINE);
}

function unguessable(): string {
  return randomBytes(32).toString("base64url");
}

/** Pure. */
function resultOf(
  { status, location }: Landing,
  authorizationEndpoint: URL,
  redirectUri: string,
): RedirectUriResult {
  if (status >= 300 && status < 400) {
    const target = targetOf(location, authorizationEndpoint);
    if (target === undefined) return broken(`redirects (status ${status}) without an address`);
    if (`${target.origin}${target.pathname}` === redirectUri)
      return { isRegistered: true, findings: errorFindings(target) };
    // The provider's own error page, or its sign-in page in spite of `prompt=none`.
    return target.pathname.split("/").includes("error")
      ? refused(redirectUri)
      : { isRegistered: null, findings: [] };
  }
  if ([400, 401, 403, 404, 422].includes(status)) return refused(redirectUri, status);
  if (status >= 500) return broken(`returns status ${status}`);
  return { isRegistered: null, findings: [] };
}

function targetOf(location: string | null, base: URL): URL | undefined {
  return location !== null && URL.canParse(location, base.href)
    ? new URL(location, base)
    : undefined;
}

function refused(redirectUri: string, status?: number): RedirectUriResult {
  const how =
    status === undefined ? "redirects to the provider's error page" : `returns status ${status}`;
  const message: SettingText = ({ label }) =>
    `The authorization endpoint ${how} instead of redirecting to ${redirectUri}. ` +
    `That redirect URI is probably not registered for ${label("clientId")}, or the client doesn't exist.`;
  return {
    isRegistered: false,
    findings: [
      liveCheck(
        "W107",
        message,
        `Register exactly ${redirectUri} at the provider, for this client ID.`,
      ),
    ],
  };
}

/** Returns a warning: the outage may be temporary. */
function broken(how: string): RedirectUriResult {
  const message = `The authorization endpoint ${how}. If browsers get the same response, nobody can sign in.`;
  const remedy =
    "Try again later. If the response stays the same, the provider or a proxy in front of it must be corrected.";
  return { isRegistered: null, findings: [liveCheck("W110", message, remedy)] };
}

/** Of a signed response, nothing is verified here: the check signs nobody in. */
function errorIn(response: URLSearchParams): string | null {
  const [, payload] = response.get("response")?.split(".") ?? [];
  if (payload === undefined) return response.get("error");
  const text = Buffer.from(payload, "base64url").toString("utf8");
  const error = jsonObject({ text })?.["error"];
  return typeof error === "string" ? error : null;
}

function errorFindings(target: URL): UnnamedFinding[] {
  const error = errorIn(target.searchParams);
  if (error === null || EXPECTED.includes(error)) return [];
  const message = `The authorization endpoint refuses the application's login request (${shownError(error) ?? "with an unknown error"}).`;
  if (OF_EVERY_LOGIN.includes(error)) return [liveCheck("E116", message)];
  return [liveCheck("W110", message, error === "invalid_request" ? INVALID_REQUEST : undefined)];
}
