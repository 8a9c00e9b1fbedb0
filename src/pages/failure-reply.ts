import {
  ApiTokenError,
  ERRORS,
  IdpAuthError,
  isOutage,
  ProviderUnavailableError,
  StoreUnavailableError,
} from "../errors.js";
import { wantsPage } from "../http/accept.js";
import { linkOnPage } from "../http/cross-site-parameter.js";
import { loginHeader, problem, shuttingDown, type Reply } from "../http/reply.js";
import { single, type IdpRequest } from "../http/request.js";
import type { Action, ErrorModel } from "./error-page.js";
import type { Pages } from "./pages.js";

/** One failure, in idpauth's own words: it never repeats text of the request or the provider. */
export interface Failure extends Omit<
  ErrorModel,
  "publicPath" | "debug" | "isStranger" | "isForm"
> {
  readonly headers?: Record<string, string>;
  /** A login that may help: `login_url` of the problem document, and the page's link. */
  readonly loginUrl?: string | undefined;
  /** Our own word for the cause, a member of the problem document. */
  readonly reason?: string;
}

/** For developers: why the provider's outage offers a login. */
const NOT_RENEWED =
  "The identity provider didn't renew this session. The user can sign in again at once.";

interface ReplyForm {
  readonly pages: Pages;
  /** The form if no header tells: `html` for endpoints that browsers navigate to. */
  readonly otherwise: "html" | "json";
}

/** The reply for a failure: a page or a problem document, as `wantsPage` decides. */
export async function failureReply(
  failure: Failure,
  request: IdpRequest,
  { pages, otherwise }: ReplyForm,
): Promise<Reply> {
  const { code, detail, validOptions, retryAfter, loginUrl, reason, action } = failure;
  const headers = {
    ...failure.headers,
    ...(retryAfter !== undefined && { "Retry-After": String(retryAfter) }),
  };
  if (!wantsPage(request, otherwise === "html")) {
    const own = failure.isNotRenewed === true ? NOT_RENEWED : `${ERRORS[code].title}.`;
    return problem(code, detail ?? own, {
      headers,
      members: { reason, valid_options: validOptions, login_url: loginUrl },
    });
  }
  // Where a login doesn't help, the page offers none, as the problem document.
  const other = code === "provider_misconfigured" ? null : action;
  const offered: Action | null | undefined =
    loginUrl === undefined
      ? other
      : { label: "action.signInAgain", href: linkOnPage(request, loginUrl) };
  return pages.error({ ...failure, action: offered }, request, headers);
}

/** Seconds for the Retry-After header: those of the error if it has them, at least 1. */
export function retryAfterOf(error: IdpAuthError): number {
  const seconds =
    error instanceof ProviderUnavailableError || error instanceof StoreUnavailableError
      ? error.retryAfter
      : 1;
  return Math.max(1, Math.ceil(seconds));
}

/**
 * The failure of an outage. If only this session waits for the provider, it offers the login.
 *
 * @param login where that login is. Unless it names a provider, it is at the session's
 */
export function outageOf(error: IdpAuthError, login: string): Failure {
  const failure = {
    code: error.code,
    retryAfter: retryAfterOf(error),
    // Only a source has providers whose settings are read so late.
    ...((error as { readonly reason?: unknown }).reason === "provider_settings" && {
      isOrganizations: true,
    }),
  };
  if (!(error instanceof ProviderUnavailableError) || !error.loginHelps) return failure;
  const loginUrl = atProvider(login, error.provider);
  return error.isMisconfiguration
    ? { ...failure, loginUrl }
    : { ...failure, loginUrl, isNotRenewed: true };
}

function atProvider(login: string, provider: string | undefined): string {
  if (provider === undefined) return login;
  const [path = "", query] = login.split("?", 2);
  const parameters = new URLSearchParams(query);
  if (!parameters.has("provider")) parameters.set("provider", provider);
  return `${path}?${parameters.toString()}`;
}

interface OutageForm {
  readonly pages: Pages;
  readonly action?: Action | undefined;
  /** Whether the provider is a customer's own. */
  readonly isOrganizations?: boolean;
}

/**
 * The reply for an outage: 503. Any other error is a bug; it is thrown again, for the framework's
 * error handling.
 */
export async function outageReply(
  error: unknown,
  request: IdpRequest,
  { pages, action, isOrganizations }: OutageForm,
): Promise<Reply> {
  if (!isOutage(error)) throw error;
  const failure = outageOf(error, `${pages.publicPath}login/`);
  const page = { ...failure, action, ...(isOrganizations && { isOrganizations }) };
  return failureReply(page, request, { pages, otherwise: "html" });
}

/**
 * Whether an error that the application did not catch becomes a response of ours. Not another
 * error, one of a copy of this package that knows other codes, or a mistake in the application's
 * code (500), which the framework reports as any other.
 */
export function hasReply(error: unknown): error is IdpAuthError {
  return error instanceof IdpAuthError && error.status !== 500 && Object.hasOwn(ERRORS, error.code);
}

/**
 * The reply for such an error: its status, as a page or a problem document. It has nothing of the
 * error but its code.
 */
export function uncaughtReply(
  error: IdpAuthError,
  request: IdpRequest,
  pages: Pages,
): Promise<Reply> {
  const { code } = error;
  if (code === "shutting_down") return Promise.resolve(shuttingDown());
  const login = `${pages.publicPath}login/`;
  const asked = error instanceof ApiTokenError ? error.loginUrl : undefined;
  if (isOutage(error))
    return failureReply(outageOf(error, login), request, { pages, otherwise: "json" });
  const loginUrl = code === "login_required" ? login : asked;
  const headers = loginUrl === undefined ? {} : loginHeader(loginUrl);
  const { retryAfter } = error as { readonly retryAfter?: number };
  const failure = { code, loginUrl, headers, ...(retryAfter !== undefined && { retryAfter }) };
  return failureReply(failure, request, { pages, otherwise: "json" });
}

/**
 * A query parameter whose value is none of its options. No response or log line repeats the value.
 */
export interface BadParameter {
  readonly name: string;
  /** Empty: any value that `reason` allows. */
  readonly options: readonly string[];
  /** Why, when it is not simply an unknown value. */
  readonly reason?: string;
}

/**
 * Reads the option that a query parameter chooses, in any letter case; the default if it is absent.
 * An empty or repeated parameter is bad.
 */
export function readChoice<Option extends string>(
  query: URLSearchParams,
  { name, options, standard }: Choice<Option>,
  bad: BadParameter[],
): Option {
  const { value, repeated } = single(query, name);
  if (value === undefined) return standard;
  const chosen = repeated
    ? undefined
    : options.find((option) => option.toLowerCase() === value.toLowerCase());
  if (chosen === undefined) bad.push({ name, options });
  return chosen ?? standard;
}

interface Choice<Option extends string> {
  readonly name: string;
  readonly options: readonly Option[];
  readonly standard: Option;
}

/** The reply 400, with the valid options of every bad parameter. */
export function badParameters(
  bad: readonly BadParameter[],
  request: IdpRequest,
  pages: Pages,
): Promise<Reply> {
  const sentences = bad.map(
    ({ name, options, reason }) =>
      reason ?? `The parameter ${name} takes one of ${options.join(", ")}, and only once`,
  );
  const listed = bad.flatMap(({ name, options }) =>
    options.length > 0 ? [[name, options] as const] : [],
  );
  const validOptions = listed.length > 0 ? Object.fromEntries(listed) : undefined;
  return failureReply(
    {
      code: "invalid_parameter",
      detail: `${sentences.join(". ")}.`,
      parameters: bad,
      validOptions,
    },
    request,
    { pages, otherwise: "json" },
  );
}
