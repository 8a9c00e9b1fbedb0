import type { AuthenticationClaims } from "./grants.js";
import type { ProviderSettings } from "./test-provider-settings.js";
import type { ProviderState } from "./test-provider-state.js";

/** An error response of the authorization endpoint (RFC 6749 section 4.1.2.1). */
export interface OAuthError {
  readonly error: string;
  readonly description: string;
}

/**
 * Signs the user in at the provider if the request needs it (OpenID Connect Core section 3.1.2.1:
 * `prompt`, `max_age`). The user agrees at once; only `prompt=none` allows no sign-in.
 *
 * @returns when the user signed in, in epoch seconds; or the error of `prompt=none`
 */
export function authenticate(
  sub: string,
  query: URLSearchParams,
  state: ProviderState,
): number | OAuthError {
  const { settings, sessions } = state;
  const now = Math.floor(state.now() / 1000);
  const prompts = promptsOf(query);
  const since = sessions.signedIn.get(sub);
  const maxAge = settings.stepUp === "ignored" ? undefined : maxAgeOf(query);
  const isTooOld =
    since === undefined || (maxAge !== undefined && (maxAge === 0 || now - since > maxAge));
  if (prompts.includes("none")) {
    if (settings.promptNoneError !== undefined)
      return { error: settings.promptNoneError, description: "the provider would show a page" };
    return isTooOld
      ? { error: "login_required", description: "nobody has signed in here, or too long ago" }
      : since;
  }
  if (!isTooOld && (settings.stepUp === "ignored" || !prompts.includes("login"))) return since;
  sessions.signIn(sub, now);
  return now;
}

/**
 * Returns the claims about the authentication that the request asks for.
 * @param authTime epoch seconds
 */
export function authenticationClaims(
  query: URLSearchParams,
  authTime: number,
  settings: ProviderSettings,
): AuthenticationClaims {
  if (settings.stepUp === "ignored") return {};
  const asked = idTokenClaims(query);
  const supported = (values: readonly string[]) =>
    values.filter((value) => settings.acrValues?.includes(value) ?? true);
  const [acr] = supported([...words(query.get("acr_values")), ...valuesIn(asked["acr"])]);
  const acrs = supported(valuesIn(asked["acrs"]));
  return {
    ...((query.has("max_age") || Object.hasOwn(asked, "auth_time")) && { auth_time: authTime }),
    ...(acr !== undefined && { acr }),
    ...(acrs.length > 0 && { acrs }),
  };
}

/** Returns the client's mistake in the parameters about the authentication. */
export function authenticationMistake(query: URLSearchParams): string | undefined {
  const prompts = promptsOf(query);
  if (prompts.includes("none") && prompts.length > 1) return "prompt=none excludes other values";
  if (query.has("max_age") && maxAgeOf(query) === undefined)
    return "max_age is no number of seconds";
  return undefined;
}

function promptsOf(query: URLSearchParams): readonly string[] {
  return words(query.get("prompt"));
}

function maxAgeOf(query: URLSearchParams): number | undefined {
  const text = query.get("max_age");
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/**
 * Returns the member `id_token` of the parameter `claims` (section 5.5). Entra ID asks for `acrs`
 * there.
 */
function idTokenClaims(query: URLSearchParams): Readonly<Record<string, unknown>> {
  try {
    const claims = JSON.parse(query.get("claims") ?? "{}") as { id_token?: unknown } | null;
    return Object(claims?.id_token) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}

function valuesIn(asked: unknown): readonly string[] {
  const { value, values } = Object(asked) as { value?: unknown; values?: unknown };
  return [value, ...(Array.isArray(values) ? (values as unknown[]) : [])].filter(
    (one) => typeof one === "string",
  );
}

/** Returns the members of a list with spaces, such as `scope`. */
export function words(text: string | null): readonly string[] {
  return (text ?? "").split(" ").filter((word) => word !== "");
}
