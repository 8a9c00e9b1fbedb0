/** The protection of the application's own routes against cross-site request forgery. Pure. */
import type { Origin } from "../http/redirects.js";
import type { IdpRequest } from "../http/request.js";

/** The safe methods of RFC 9110 section 9.2.1. They must not change anything. */
const SAFE_METHODS = ["GET", "HEAD", "OPTIONS", "TRACE"];

/**
 * The header that tells a program from a form. A page of another origin may only send it after a
 * preflight.
 */
export const PROGRAM_HEADER = "x-idpauth";

/** Whether a request has a method that must not change anything. */
export function isSafe({ method }: IdpRequest): boolean {
  return SAFE_METHODS.includes(method);
}

/**
 * Returns whether a request may pass: it has a safe method, or it does not come from a page of
 * another origin.
 *
 * If the browser sends `Sec-Fetch-Site`, only that header decides, and only `same-origin` and
 * `none` (the user's own doing) pass. Without it, `Origin` must be the application's own. Without
 * both, the request must have the header `X-Idpauth`.
 */
export function passesCsrf(request: IdpRequest, own: () => Origin | undefined): boolean {
  if (isSafe(request)) return true;
  const site = request.header("sec-fetch-site");
  if (site !== undefined) return site === "same-origin" || site === "none";
  const origin = request.header("origin");
  if (origin !== undefined) return origin === own();
  return (request.header(PROGRAM_HEADER) ?? "") !== "";
}
