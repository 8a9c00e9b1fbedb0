import type { CommonSettings } from "../config/read-settings.js";
import { wantsPage } from "../http/accept.js";
import { ownOrigin } from "../http/own-origin.js";
import { type Origin } from "../http/redirects.js";
import type { IdpRequest } from "../http/request.js";
import { MAX_ORIGIN_URL_LENGTH, sameOriginUrl } from "../http/same-origin-url.js";
import { withoutUndefined } from "../record/without-undefined.js";

/** The most characters of a value that a login passes on. */
const MAX_PASSED_LENGTH = 512;

/** The values that a login passes on. Completes "takes …". */
export const PASSABLE = `one value of at most ${String(MAX_PASSED_LENGTH)} characters, without control characters`;

/** Whether a login passes a value on. */
export function isPassable(value: string): boolean {
  return value.length <= MAX_PASSED_LENGTH && !/\p{Cc}/u.test(value);
}

/** Where a login leads back to, and the parameters that it passes on to the provider. */
export interface LoginUrlOptions<Provider extends string = string> {
  /**
   * A page of the application: an absolute URL on its own origin, or a path as browsers use it,
   * with one leading slash. A page on another origin is left out. Default: the page of the request
   * if a browser navigates to it. Null or left out: the login leads to IDP_AUTH_FINAL_REDIRECT_URL.
   */
  readonly returnTo?: string | null | undefined;
  /** Values of at most 512 characters, by names among `loginParams`. An empty value is left out. */
  readonly params?: Readonly<Record<string, string | undefined>>;
  /** The key of the provider. Default: `defaultProvider`, else the user chooses. */
  readonly provider?: Provider | undefined;
}

interface LoginUrlParts {
  readonly settings: CommonSettings;
  /** Whether a login may name this key. */
  readonly isProvider: (key: string) => boolean;
}

/**
 * Returns the path and query of a login.
 *
 * @throws TypeError for a parameter that a login does not pass on, or a `returnTo` that is not text
 */
export function loginUrlFor(
  request: IdpRequest,
  { settings, isProvider }: LoginUrlParts,
  { returnTo, params = {}, provider }: LoginUrlOptions = {},
): string {
  const origin = ownOrigin(request, settings);
  if (provider !== undefined && !isProvider(provider))
    throw new TypeError("loginUrl: `provider` isn't the key of a provider.");
  const parameters = {
    ...withoutUndefined({ provider }),
    ...Object.fromEntries(checkedParameters(params, settings.loginParams)),
  };
  const seen = returnTo === undefined && request.method === "GET" && isNavigation(request);
  const page = seen ? pageOf(request, origin, settings.pathPrefix) : pageAt(returnTo, origin);
  if (page !== undefined) return loginUrlBackTo(loginPath(settings.publicPath), page, parameters);
  return loginPath(settings.publicPath, parameters);
}

/** The messages contain no value. */
function checkedParameters(
  params: Readonly<Record<string, unknown>>,
  names: readonly string[],
): [name: string, value: string][] {
  return Object.entries(params).flatMap(([name, value]): [name: string, value: string][] => {
    if (!names.includes(name)) {
      throw new TypeError(
        `loginUrl: ${JSON.stringify(name)} isn't in IDP_LOGIN_PARAMS (option loginParams). Add it there.`,
      );
    }
    if (value === undefined || value === "") return [];
    if (typeof value !== "string" || !isPassable(value))
      throw new TypeError(`loginUrl: the parameter ${name} takes ${PASSABLE}.`);
    return [[name, value]];
  });
}

function pageAt(returnTo: unknown, origin: Origin | undefined): string | undefined {
  if (returnTo === undefined || returnTo === null) return undefined;
  if (typeof returnTo !== "string")
    throw new TypeError("loginUrl: `returnTo` must be a URL or a path, as a string.");
  if (origin === undefined) return undefined;
  // `//x` and `/\x` are other origins for a browser.
  return sameOriginUrl(/^\/(?![/\\])/.test(returnTo) ? `${origin}${returnTo}` : returnTo, origin);
}

/** The path of a login with these parameters. */
export function loginPath(
  publicPath: string,
  parameters: Readonly<Record<string, string>> = {},
): string {
  return loginUrlBackTo(`${publicPath}login/`, undefined, parameters);
}

/**
 * The URL of a login that leads back to a page.
 *
 * @param login path or URL of the login, without a query
 * @param page absolute URL on the application's own origin; a login refuses any other and leads to
 *   the configured page, as without one
 * @param parameters further parameters of the login
 */
export function loginUrlBackTo(
  login: string,
  page: string | undefined,
  parameters: Readonly<Record<string, string>> = {},
): string {
  const query = parametersBackTo(page, parameters).toString();
  return query === "" ? login : `${login}?${query}`;
}

/** The parameters of a login that leads back to a page. */
export function parametersBackTo(
  page: string | undefined,
  parameters: Readonly<Record<string, string>>,
): URLSearchParams {
  // One character over the limit is enough for the login to refuse the page. Encoding triples a
  // URL, and servers refuse long ones.
  const back = page !== undefined && {
    scheme: "PRESERVE_ORIGIN_QP",
    origin_url: page.slice(0, MAX_ORIGIN_URL_LENGTH + 1),
  };
  return new URLSearchParams({ ...back, ...parameters });
}

/** The address of the requested page, as the browser sees it. */
export function pageOf(
  { target }: IdpRequest,
  origin: Origin | undefined,
  pathPrefix: string,
): string {
  return `${origin ?? ""}${pathPrefix}${target.startsWith("/") ? target : "/"}`;
}

/** Whether a browser navigates to a page, to which a login can lead back. */
export function isNavigation(request: IdpRequest): boolean {
  if (request.method !== "GET" && request.method !== "HEAD") return false;
  return wantsPage(request);
}

/** A request, and the application's own origin as its user sees it. */
export interface SeenRequest {
  readonly request: IdpRequest;
  readonly origin: Origin | undefined;
}
