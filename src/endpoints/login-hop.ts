import { queryOf, redirect, type IdpRequest, type Reply } from "../http/request-and-replies.js";
import { isAuthority, parseUrl } from "../http/redirects.js";
import type { EndpointContext } from "./context.js";
import type { SessionRequest } from "./session-request.js";
import { failureReply } from "./failure-reply.js";

/** The query parameter of a login that was redirected to BASE_URL. It is ignored if the Host header is BASE_URL's. */
const HOP = "idp_hop";

const CAUSES =
  "Something between the browser and the application rewrites Host. Usual causes: `changeOrigin` in Vite's proxy, an Astro " +
  "`security.allowedDomains` that does not list this host, a proxy that names the host in X-Forwarded-Host while IDP_TRUST_PROXY is off, " +
  "or a BASE_URL with another host or port than browsers use.";

/**
 * Redirects a login whose Host header differs from BASE_URL's to BASE_URL, once. The cookie and the callback belong to that host, so a
 * login that starts elsewhere cannot finish. If the redirected login has another Host again, a proxy rewrites the header; a second
 * redirect would loop.
 *
 * @returns undefined if the Host header is BASE_URL's, or if BASE_URL is not set
 */
export function loginHop({ request, host }: SessionRequest, query: URLSearchParams, context: EndpointContext): Reply | undefined {
  const { publicPath, baseUrl } = context.settings;
  if (baseUrl === null || isHostOf(baseUrl, host)) return undefined;
  if (query.getAll(HOP).includes("1")) return loopReply(request, host, baseUrl, context);
  return redirect(`${baseUrl}${publicPath}login/?${hoppedQuery(request)}`);
}

function isHostOf(baseUrl: string, host: string | undefined): boolean {
  const base = new URL(baseUrl);
  // Only hosts are compared: behind a proxy that terminates TLS the schemes differ.
  return parseUrl(`${base.protocol}//${host ?? ""}`)?.host === base.host;
}

function hoppedQuery(request: IdpRequest): string {
  const query = queryOf(request.target);
  // Unchanged if a header can carry it: encoding can triple its length, and servers refuse long headers.
  const sendable = /^[\x21-\x7e]*$/.test(query) ? query : new URLSearchParams(query).toString();
  return `${sendable}${sendable === "" ? "" : "&"}${HOP}=1`;
}

function loopReply(request: IdpRequest, host: string | undefined, baseUrl: string, { pages, events }: EndpointContext): Reply {
  // A hostile Host header is repeated neither to the user nor in the log.
  const seen = host !== undefined && isAuthority(host) ? `the Host header "${host}"` : "a Host header that is missing or no host name";
  const detail = `The login was sent to BASE_URL (${baseUrl}) and came back with ${seen}. ${CAUSES}`;
  const line = { level: "error", code: "login_loop", message: detail } as const;
  events.emit("failure", { during: "login", kind: "refusal", reason: "login_loop" }, line);
  return failureReply({ code: "login_loop", detail }, request, pages, "json");
}
