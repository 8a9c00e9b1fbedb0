import { ERRORS, isOutage, ProviderUnavailableError, StoreUnavailableError, type ErrorCode, type IdpAuthError } from "../errors.js";
import { preferredType, problem, type IdpRequest, type Reply } from "../http/request-and-replies.js";
import type { Action } from "../pages/error-page.js";
import type { Pages } from "../pages/pages.js";

/** One failure, in idpauth's own words: it never repeats text of the request or the provider. */
export interface Failure {
  readonly code: ErrorCode;
  /** A sentence for the user. Default: the page's own sentence; in a problem document the title of the error table. */
  readonly detail?: string;
  /** The bad parameters: the page has its own sentences for them, in its language, and lists the valid values itself. */
  readonly parameters?: readonly { readonly name: string; readonly reason?: string }[];
  /** The valid values of bad parameters, by name. */
  readonly validOptions?: Readonly<Record<string, readonly string[]>>;
  readonly headers?: Record<string, string>;
  /** The link that the page offers. */
  readonly action?: Action;
  readonly retryAfter?: number;
}

/**
 * The reply for a failure: a page or a problem document, as the Accept header prefers.
 *
 * @param otherwise the form if Accept prefers neither: `html` for endpoints that browsers navigate to
 */
export function failureReply(failure: Failure, request: IdpRequest, pages: Pages, otherwise: "html" | "json"): Reply {
  const { code, detail, parameters, validOptions, action, retryAfter } = failure;
  const headers = { ...failure.headers, ...(retryAfter !== undefined && { "Retry-After": String(retryAfter) }) };
  if ((preferredType(request.header("accept")) ?? otherwise) === "json") {
    return problem(code, detail ?? `${ERRORS[code].title}.`, {
      headers,
      ...(validOptions && { members: { valid_options: validOptions } }),
    });
  }
  return pages.error(
    { code, detail: parameters === undefined ? detail : undefined, parameters, validOptions, action, retryAfter },
    request,
    headers,
  );
}

/** Seconds for the Retry-After header: those of the error if it has them, at least 1. */
export function retryAfterOf(error: IdpAuthError): number {
  const seconds = error instanceof ProviderUnavailableError || error instanceof StoreUnavailableError ? error.retryAfter : 1;
  return Math.max(1, Math.ceil(seconds));
}

/** The reply for an outage: 503. Any other error is a bug; it is thrown again, for the framework's error handling. */
export function outageReply(error: unknown, request: IdpRequest, pages: Pages, action?: Action): Reply {
  if (!isOutage(error)) throw error;
  const failure: Failure = { code: error.code, retryAfter: retryAfterOf(error), ...(action !== undefined && { action }) };
  return failureReply(failure, request, pages, "html");
}
