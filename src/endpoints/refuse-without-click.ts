/** Which GET of login and logout has its effect: one that a user's click or a script's call made. */
import { PROGRAM_HEADER } from "../guard/csrf.js";
import { linkOnPage } from "../http/cross-site-parameter.js";
import { initiatorOf, isByHtmx, isByScript, saysOtherSite } from "../http/initiator.js";
import type { Reply } from "../http/reply.js";
import { queryOf, type IdpRequest } from "../http/request.js";
import { failureReply } from "../pages/failure-reply.js";
import type { Pages } from "../pages/pages.js";
import { isByOtherSite } from "./other-site-logout.js";

/** What a row of the router's table asks for. */
export interface Click {
  /** The path below the mount path. */
  readonly path: string;
  /** Whether the page of the whole tab must have asked: no frame and no image. */
  readonly asDocument: boolean;
}

/**
 * Refuses a GET that no click of the user made with 503. Undefined: the request has its effect.
 *
 * Some libraries fetch a link that the user has clicked. They must navigate to it instead: a
 * response of JSON makes Turbo do so, and `HX-Redirect` makes htmx do so.
 */
export function refuseWithoutClick(
  request: IdpRequest,
  { path, asDocument }: Click,
  pages: Pages,
): Promise<Reply> | undefined {
  const isGuess = isPrefetch(request);
  if (!isGuess && hasEffect(request, asDocument)) return undefined;
  const isHtmx = !isGuess && isByHtmx(request);
  const address = addressOf(request, pages.publicPath + path);
  // A logout without the headers of browsers counts as the user's own.
  const isMarked = !asDocument || isByOtherSite(request);
  return failureReply(
    {
      code: "prefetch_refused",
      action: { label: "action.continue", href: isMarked ? linkOnPage(request, address) : address },
      ...(isHtmx && { headers: { "HX-Redirect": address } }),
    },
    request,
    { pages, otherwise: "json" },
  );
}

/**
 * The headers that tell a prefetch. Scripts can't set `Sec-Purpose`, so Turbo sends `X-Sec-Purpose`;
 * the other names are those of earlier browsers.
 */
const PURPOSES = ["sec-purpose", "x-sec-purpose", "purpose", "x-purpose", "x-moz"];

/** A browser's or framework's guess at the next page: it must never sign anyone in or out. */
export function isPrefetch(request: IdpRequest): boolean {
  const isGuess = PURPOSES.some((name) =>
    /prefetch|preview|prerender/i.test(request.header(name) ?? ""),
  );
  return isGuess || request.header("next-router-prefetch") !== undefined;
}

/** Without these headers of browsers, only a library's own header tells a fetch from a click. */
function hasEffect(request: IdpRequest, asDocument: boolean): boolean {
  const mode = request.header("sec-fetch-mode");
  if (mode === undefined) return !isByScript(request) || saysScript(request);
  if (mode === "navigate") return !asDocument || isOfWholeTab(request);
  // An image and a prefetched script are `no-cors`, whatever their address says.
  if (mode !== "cors" && mode !== "same-origin") return false;
  // Another origin's script may send an address with credentials, but no header of ours without our
  // consent (CORS). With it comes the cookie, if the origin is of the same site, and a framework's
  // cookie with SameSite=None in any case.
  return asDocument && saysOtherSite(request) ? hasProgramHeader(request) : saysScript(request);
}

/** A service worker that passes a navigation on hides its destination, but not who began it. */
function isOfWholeTab(request: IdpRequest): boolean {
  const destination = request.header("sec-fetch-dest") ?? "document";
  return (
    destination === "document" || (destination === "empty" && initiatorOf(request) !== "other")
  );
}

function saysScript(request: IdpRequest): boolean {
  const responses = new URLSearchParams(queryOf(request.target)).getAll("response");
  return (
    responses.some((response) => response.toLowerCase() === "json") || hasProgramHeader(request)
  );
}

function hasProgramHeader(request: IdpRequest): boolean {
  return (request.header(PROGRAM_HEADER) ?? "") !== "";
}

/** The address of this request as a path, in characters that a header can have. */
function addressOf({ target }: IdpRequest, path: string): string {
  const query = new URLSearchParams(queryOf(target)).toString();
  return `${path}/${query === "" ? "" : `?${query}`}`;
}
