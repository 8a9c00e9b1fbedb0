/** What the headers of a request say about the response it wants. Pure. */
import { isByScript } from "./initiator.js";
import type { IdpRequest } from "./request.js";

/** Entries that are read of a header; browsers send fewer than ten. */
const MAX_ENTRIES = 32;

/**
 * Returns the entries of a header of preferences in lower case, each with its weight (RFC 9110
 * section 12.4.2): 1 if absent, 0 if invalid.
 */
export function preferences(header = ""): (readonly [value: string, weight: number])[] {
  return header.split(",", MAX_ENTRIES).map((entry) => {
    // Split, then trimmed: an expression with white space on both sides takes quadratic time over a
    // header full of it.
    const [value = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
    const weight = Number(
      parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? 1,
    );
    return [value, weight >= 0 && weight <= 1 ? weight : 0];
  });
}

/**
 * Returns which of HTML and JSON an `Accept` header prefers (RFC 9110 section 12.5.1); undefined:
 * neither.
 */
export function preferredType(accept: string | undefined): "html" | "json" | undefined {
  let [html, json, any] = [0, 0, 0];
  for (const [type, weight] of preferences(accept)) {
    if (type === "text/html" || type === "application/xhtml+xml") html = Math.max(html, weight);
    else if (type === "application/json" || type === "application/problem+json")
      json = Math.max(json, weight);
    else if (type === "*/*") any = Math.max(any, weight);
  }
  if (html > json && html >= any) return "html";
  return json > html && json >= any ? "json" : undefined;
}

/**
 * Returns whether a browser shows the response as a page, because it navigates, whatever the
 * method. For a script, a page or a redirect to the login is of no use.
 *
 * If the browser sends both `Sec-Fetch-Site` and `Sec-Fetch-Mode`, only they decide: some scripts
 * ask for `text/html`. The `fetch` of Node.js sends the mode alone.
 *
 * @param otherwise the result if no header tells
 */
export function wantsPage(request: IdpRequest, otherwise = false): boolean {
  const isNavigation = request.header("sec-fetch-mode") === "navigate";
  if (isNavigation || isByScript(request)) return isNavigation;
  const preferred = preferredType(request.header("accept"));
  return preferred === undefined ? otherwise : preferred === "html";
}
