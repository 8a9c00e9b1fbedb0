import { ERRORS, isOutage, ProviderUnavailableError, StoreUnavailableError, type ErrorCode, type IdpAuthError } from "../errors.js";
import { page, preferredType, problem, type IdpRequest, type Reply } from "../http/request-reply.js";
import { errorPage, type Action } from "../pages/error-page.js";

/** How one failure is told: by its code, in our own words, never the request's or the provider's. */
export interface Failure {
  readonly code: ErrorCode;
  /** A sentence for a person; default: the page's own words, the table's title in a problem document. */
  readonly detail?: string;
  /** What a page says instead, where `detail` repeats what the page shows anyway. */
  readonly pageDetail?: string;
  /** The valid values of bad parameters, by name. */
  readonly validOptions?: Readonly<Record<string, readonly string[]>>;
  readonly headers?: Record<string, string>;
  /** What the page offers to do next. */
  readonly action?: Action;
  readonly retryAfter?: number;
}

/**
 * A failure as a page or as a problem document, whichever Accept prefers.
 *
 * @param otherwise what to answer when Accept prefers neither: endpoints that browsers navigate to give the page
 */
export function failureReply(failure: Failure, request: IdpRequest, publicPath: string, otherwise: "html" | "json"): Reply {
  const { code, detail, pageDetail = detail, validOptions, action, retryAfter } = failure;
  const { status, title } = ERRORS[code];
  const headers = { ...failure.headers, ...(retryAfter !== undefined && { "Retry-After": String(retryAfter) }) };
  if ((preferredType(request.header("accept")) ?? otherwise) === "json") {
    return problem(code, detail ?? `${title}.`, { headers, ...(validOptions && { members: { valid_options: validOptions } }) });
  }
  return page(status, errorPage({ publicPath, code, detail: pageDetail, validOptions, action, retryAfter }), { headers });
}

/** Seconds to wait before asking again; an outage's own figure where it has one. */
export function retryAfterOf(error: IdpAuthError): number {
  const seconds = error instanceof ProviderUnavailableError || error instanceof StoreUnavailableError ? error.retryAfter : 1;
  return Math.max(1, Math.ceil(seconds));
}

/** An outage told as 503; anything else is a bug and goes on to the host's own error handling. */
export function outageReply(error: unknown, request: IdpRequest, publicPath: string, action?: Action): Reply {
  if (!isOutage(error)) throw error;
  const failure: Failure = { code: error.code, retryAfter: retryAfterOf(error), ...(action !== undefined && { action }) };
  return failureReply(failure, request, publicPath, "html");
}
